/*
 * A disk that fails on demand, for one folder. Loaded with LD_PRELOAD, this library stands in front of the system calls
 * that a database makes, and makes those on files below FAILING_DISK_FOLDER fail or wait. What fails is said in the file
 * FAILING_DISK_CONTROL, which is mapped into memory here and in the test: a test switches faults on and off while the
 * process runs, and sees how many calls were struck.
 *
 * Whether a call concerns the folder is looked up in /proc while a fault is on, and not at all otherwise.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES 4096

/* The same order as in failing-disk.ts. */
struct control {
  _Atomic int32_t read_errno;  /* what every read fails with; 0 for none */
  _Atomic int32_t write_errno; /* the same for writes */
  _Atomic int32_t sync_errno;  /* the same for fsync and fdatasync */
  _Atomic int32_t sync_stalls; /* while this is 1, fsync and fdatasync do not return */
  _Atomic int32_t bad_page;    /* a page of the database, counted from 1, that cannot be read; 0 for none */
  _Atomic int32_t read_stalls; /* while this is 1, reads do not return */
  _Atomic int32_t copy_stalls; /* while this is 1, writes to the database, which are those of checkpoints, do not return */
  _Atomic int32_t struck_reads;
  _Atomic int32_t struck_writes;
  _Atomic int32_t struck_syncs;
};

static struct control idle;
static struct control *control = &idle;
static const char *folder = "";
static size_t folder_length;

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("FAILING_DISK_CONTROL");
  const char *below = getenv("FAILING_DISK_FOLDER");
  if (path == NULL || below == NULL) return;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *shared = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (shared == MAP_FAILED) return;
  folder = strdup(below);
  folder_length = strlen(folder);
  control = shared;
}

/* The path of an open file below the folder, or NULL. */
static const char *path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return NULL;
  path[length] = '\0';
  int is_below = strncmp(path, folder, folder_length) == 0 && path[folder_length] == '/';
  return is_below ? path : NULL;
}

static int is_ours(int fd) {
  char path[PATH_MAX];
  int kept = errno;
  int found = path_of(fd, path) != NULL;
  errno = kept;
  return found;
}

static int is_database(int fd) {
  char path[PATH_MAX];
  if (path_of(fd, path) == NULL) return 0;
  size_t length = strlen(path);
  return length > 3 && strcmp(path + length - 3, ".db") == 0;
}

static void wait_while(_Atomic int32_t *stalls) {
  struct timespec nap = {0, 5000000};
  while (*stalls) nanosleep(&nap, NULL);
}

static int read_fails(int fd, off_t offset, size_t count) {
  if (control->read_stalls && is_ours(fd)) {
    control->struck_reads++;
    wait_while(&control->read_stalls);
  }
  int error = control->read_errno;
  int32_t page = control->bad_page;
  if (error == 0 && page != 0) {
    off_t at = (off_t)(page - 1) * PAGE_BYTES;
    if (offset < at + PAGE_BYTES && at < offset + (off_t)count && is_database(fd)) error = EIO;
  } else if (error != 0 && !is_ours(fd)) {
    error = 0;
  }
  if (error == 0) return 0;
  control->struck_reads++;
  errno = error;
  return 1;
}

static int write_fails(int fd) {
  if (control->copy_stalls && is_database(fd)) {
    control->struck_writes++;
    wait_while(&control->copy_stalls);
  }
  int error = control->write_errno;
  if (error == 0 || !is_ours(fd)) return 0;
  control->struck_writes++;
  errno = error;
  return 1;
}

static int sync_fails(int fd) {
  if (control->sync_stalls && is_ours(fd)) {
    control->struck_syncs++;
    wait_while(&control->sync_stalls);
  }
  int error = control->sync_errno;
  if (error == 0 || !is_ours(fd)) return 0;
  control->struck_syncs++;
  errno = error;
  return 1;
}

/* The call behind the one that is asked for here. */
#define NEXT(name) ((__typeof__(&name))next(&next_##name, #name))
static void *next(void *_Atomic *known, const char *name) {
  void *found = *known;
  if (found == NULL) *known = found = dlsym(RTLD_NEXT, name);
  return found;
}
#define CALL(type, name, arguments, passed, fails) \
  static void *_Atomic next_##name;                \
  type name arguments {                            \
    if (fails) return -1;                          \
    return NEXT(name) passed;                      \
  }

CALL(ssize_t, pread, (int fd, void *to, size_t count, off_t at), (fd, to, count, at), read_fails(fd, at, count))
CALL(ssize_t, pread64, (int fd, void *to, size_t count, off64_t at), (fd, to, count, at), read_fails(fd, at, count))
CALL(ssize_t, read, (int fd, void *to, size_t count), (fd, to, count), (control->read_errno || control->read_stalls) && read_fails(fd, 0, count))
CALL(ssize_t, pwrite, (int fd, const void *from, size_t count, off_t at), (fd, from, count, at), write_fails(fd))
CALL(ssize_t, pwrite64, (int fd, const void *from, size_t count, off64_t at), (fd, from, count, at), write_fails(fd))
CALL(ssize_t, write, (int fd, const void *from, size_t count), (fd, from, count), write_fails(fd))
CALL(int, ftruncate, (int fd, off_t length), (fd, length), write_fails(fd))
CALL(int, ftruncate64, (int fd, off64_t length), (fd, length), write_fails(fd))
CALL(int, fallocate, (int fd, int mode, off_t at, off_t length), (fd, mode, at, length), write_fails(fd))
CALL(int, fsync, (int fd), (fd), sync_fails(fd))
CALL(int, fdatasync, (int fd), (fd), sync_fails(fd))
