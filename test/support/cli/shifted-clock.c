/*
 * Shifts the time of day of a process by the number of milliseconds in a file, which may change while the process runs. The
 * monotonic clock is left alone, as it is when somebody sets a machine's clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *shift_milliseconds;
static int (*system_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void map_shift(void) {
  system_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("CLOCK_SHIFT_FILE");
  if (path == NULL) return;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) abort();
  void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (mapped == MAP_FAILED) abort();
  shift_milliseconds = mapped;
}

int clock_gettime(clockid_t id, struct timespec *now) {
  if (system_clock_gettime == NULL) system_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  int result = system_clock_gettime(id, now);
  if (result == 0 && shift_milliseconds != NULL && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
    now->tv_sec += *shift_milliseconds / 1000;
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *out) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (out != NULL) *out = precise.tv_sec;
  return precise.tv_sec;
}
