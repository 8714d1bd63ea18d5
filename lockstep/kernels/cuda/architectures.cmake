cmake_policy(SET CMP0057 NEW)  # IN_LIST, also where this is run as a script

# lockstep_cuda_codes(WANTED KNOWN ARCHITECTURES CODES): of the wanted compute capabilities those that nvcc knows (KNOWN: what
# it lists, or nothing), and its options for them. Machine code runs on its own generation only. So PTX is there for all
# others: of the newest, for GPUs to come, and of compute_80, for those between two of the list (sm_87, sm_110).
function(lockstep_cuda_codes wanted known architectures codes)
  set(found)
  set(options)
  foreach(architecture IN LISTS wanted)
    if(known AND NOT "${known}" MATCHES "compute_${architecture}[^0-9]")
      message(NOTICE "nvcc does not know sm_${architecture}: the CUDA plugin is built without it")
      continue()
    endif()
    list(APPEND found ${architecture})
    list(APPEND options -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  set(texts)
  if(found)
    list(GET found -1 texts)
  endif()
  if(80 IN_LIST found)
    list(PREPEND texts 80)
    list(REMOVE_DUPLICATES texts)
  endif()
  foreach(architecture IN LISTS texts)
    list(APPEND options -gencode arch=compute_${architecture},code=compute_${architecture})
  endforeach()
  set(${architectures} ${found} PARENT_SCOPE)
  set(${codes} ${options} PARENT_SCOPE)
endfunction()

# cmake -DWANTED=... [-DKNOWN=...] -P architectures.cmake: prints the options, for the test.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  lockstep_cuda_codes("${WANTED}" "${KNOWN}" found options)
  message("${options}")
endif()
