# The table at the end of configuring: what was found, what is missing.
