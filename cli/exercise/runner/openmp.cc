/* A small OpenMP runtime on plain threads, for the build with the thread sanitizer: the sanitizer does not see how
   g++'s own runtime orders threads, and would report races that are none. Threads are new in every parallel region and
   start with random delays. What is missing here does not link, and the checker says that it left this part out. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace {

struct Team {
  void (*function)(void*);
  void* data;
  int size;
  pthread_barrier_t barrier;
  pthread_mutex_t mutex;
  long next, end, step, chunk; /* of the loop that is shared out */
  int singles, loops;          /* how many regions of each kind somebody has entered */
};

struct Place {
  Team* team;
  int index, singles, loops;
};
thread_local Place here = {0, 0, 0, 0};

int wanted = 0;
pthread_mutex_t criticals = PTHREAD_MUTEX_INITIALIZER, atomics = PTHREAD_MUTEX_INITIALIZER;

int most_threads() {
  if (wanted > 0) return wanted;
  const char* const text = getenv("OMP_NUM_THREADS");
  return text && atoi(text) > 0 ? atoi(text) : 1;
}

void* work(void* argument) {
  here = *(Place*)argument;
  static thread_local unsigned delay = 0;
  delay = (unsigned)(here.index * 7919 + (long)argument);
  usleep(rand_r(&delay) % 50);
  here.team->function(here.team->data);
  return 0;
}

/* One piece of the shared loop; 0 where nothing is left. */
bool take(Team* team, long* begin, long* end) {
  pthread_mutex_lock(&team->mutex);
  const bool left = team->step > 0 ? team->next < team->end : team->next > team->end;
  if (left) {
    *begin = team->next;
    *end = *begin + team->step * team->chunk;
    if (team->step > 0 ? *end > team->end : *end < team->end) *end = team->end;
    team->next = *end;
  }
  pthread_mutex_unlock(&team->mutex);
  return left;
}

Team alone = {0, 0, 1, {}, PTHREAD_MUTEX_INITIALIZER, 0, 0, 1, 1, 0, 0};
Team* team_here() { return here.team ? here.team : &alone; }

bool start_loop(long begin, long end, long step, long chunk, long* first, long* last) {
  Team* const team = team_here();
  pthread_mutex_lock(&team->mutex);
  if (here.loops++ == team->loops) {
    ++team->loops;
    team->next = begin, team->end = end, team->step = step, team->chunk = chunk > 0 ? chunk : 1;
  }
  pthread_mutex_unlock(&team->mutex);
  return take(team, first, last);
}

void run_team(void (*function)(void*), void* data, unsigned threads, Team* prepared) {
  Team team = *prepared;
  team.function = function;
  team.data = data;
  team.size = here.team ? 1 : threads > 0 ? (int)threads : most_threads();
  pthread_barrier_init(&team.barrier, 0, (unsigned)team.size);
  pthread_mutex_init(&team.mutex, 0);
  const Place outside = here;
  Place* const places = (Place*)calloc((size_t)team.size, sizeof(Place));
  pthread_t* const members = (pthread_t*)calloc((size_t)team.size, sizeof(pthread_t));
  for (int i = 0; i < team.size; ++i) places[i] = {&team, i, 0, prepared->loops};
  for (int i = 1; i < team.size; ++i) pthread_create(&members[i], 0, work, &places[i]);
  work(&places[0]);
  for (int i = 1; i < team.size; ++i) pthread_join(members[i], 0);
  here = outside;
  pthread_barrier_destroy(&team.barrier);
  free(members);
  free(places);
}

}  // namespace

extern "C" {
int omp_get_thread_num() { return here.index; }
int omp_get_num_threads() { return team_here()->size; }
int omp_get_max_threads() { return most_threads(); }
int omp_get_num_procs() { return most_threads(); }
int omp_in_parallel() { return team_here()->size > 1; }
void omp_set_num_threads(int threads) { wanted = threads; }

void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned) {
  run_team(function, data, threads, &alone);
}
void GOMP_barrier() {
  if (team_here()->size > 1) pthread_barrier_wait(&here.team->barrier);
}
void GOMP_critical_start() { pthread_mutex_lock(&criticals); }
void GOMP_critical_end() { pthread_mutex_unlock(&criticals); }
void GOMP_critical_name_start(void**) { pthread_mutex_lock(&criticals); }
void GOMP_critical_name_end(void**) { pthread_mutex_unlock(&criticals); }
void GOMP_atomic_start() { pthread_mutex_lock(&atomics); }
void GOMP_atomic_end() { pthread_mutex_unlock(&atomics); }
bool GOMP_single_start() {
  Team* const team = team_here();
  pthread_mutex_lock(&team->mutex);
  const bool first = here.singles++ == team->singles;
  if (first) ++team->singles;
  pthread_mutex_unlock(&team->mutex);
  return first;
}
void GOMP_loop_end() { GOMP_barrier(); }
void GOMP_loop_end_nowait() {}

#define SHARED_LOOP(kind)                                                                                     \
  bool GOMP_loop_##kind##_start(long begin, long end, long step, long chunk, long* first, long* last) {       \
    return start_loop(begin, end, step, chunk, first, last);                                                  \
  }                                                                                                           \
  bool GOMP_loop_##kind##_next(long* first, long* last) { return take(team_here(), first, last); }            \
  void GOMP_parallel_loop_##kind(void (*function)(void*), void* data, unsigned threads, long begin, long end, \
                                 long step, long chunk, unsigned) {                                           \
    Team prepared = alone;                                                                                    \
    prepared.next = begin, prepared.end = end, prepared.step = step, prepared.chunk = chunk > 0 ? chunk : 1;  \
    prepared.loops = 1;                                                                                       \
    run_team(function, data, threads, &prepared);                                                             \
  }
SHARED_LOOP(dynamic)
SHARED_LOOP(guided)
SHARED_LOOP(nonmonotonic_dynamic)
SHARED_LOOP(nonmonotonic_guided)
}
