/*
 * An LD_PRELOAD library that records file system calls below one folder: every write, truncate, create, unlink, rename and
 * completed sync, in the order in which they took effect. disk.ts replays the log into disk images after a power loss.
 *
 *   RECORDER_FOLDER   absolute path without symbolic links; files directly in it are recorded
 *   RECORDER_LOG      the log file; records are appended
 *
 * A call and its record are made under one lock, so the order of records is the order of effects. Syncs are not made under
 * the lock: a sync covers what was recorded before it began and takes effect when it has returned. Shared memory files
 * (-shm) do not survive a power loss and are not recorded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { WRITE = 1, TRUNCATE, CREATE, UNLINK, RENAME, SYNC_BEGIN, SYNC_END };

struct record {
  uint32_t kind;
  uint32_t payload;
  uint64_t file;
  uint64_t offset;
};

#define MOST_DESCRIPTORS 65536
#define FOLDER_ITSELF 0

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[4096];
static size_t folder_length;
static int log_fd = -1;
static uint64_t log_size;

struct descriptor {
  int recorded;
  uint64_t file;
};
static struct descriptor descriptors[MOST_DESCRIPTORS];

#define REAL(name) ((__typeof__(&name))real_##name())
#define DEFINE_REAL(name)                                                                                            \
  static void *real_##name(void) {                                                                                   \
    static void *found;                                                                                              \
    if (found == NULL) found = dlsym(RTLD_NEXT, #name);                                                              \
    return found;                                                                                                    \
  }

DEFINE_REAL(open)
DEFINE_REAL(open64)
DEFINE_REAL(close)
DEFINE_REAL(write)
DEFINE_REAL(pwrite)
DEFINE_REAL(pwrite64)
DEFINE_REAL(ftruncate)
DEFINE_REAL(ftruncate64)
DEFINE_REAL(fsync)
DEFINE_REAL(fdatasync)
DEFINE_REAL(unlink)
DEFINE_REAL(rename)

__attribute__((constructor)) static void begin(void) {
  const char *given = getenv("RECORDER_FOLDER");
  const char *log = getenv("RECORDER_LOG");
  if (given == NULL || log == NULL || strlen(given) >= sizeof folder) return;
  strcpy(folder, given);
  folder_length = strlen(folder);
  log_fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  struct stat found;
  if (log_fd >= 0 && fstat(log_fd, &found) == 0) log_size = found.st_size;
}

static void give_up(const char *why) {
  fprintf(stderr, "recorder: %s: %s\n", why, strerror(errno));
  abort();
}

/* Appends a record; the caller holds the lock. A gap in the log would look like a lost write, so failing is fatal. */
static void append(enum kind kind, uint64_t file, uint64_t offset, const void *payload, size_t length) {
  struct record head = {kind, (uint32_t)length, file, offset};
  struct iovec parts[2] = {{&head, sizeof head}, {(void *)payload, length}};
  size_t wanted = sizeof head + length;
  ssize_t written = syscall(SYS_writev, log_fd, parts, length > 0 ? 2 : 1);
  if (written != (ssize_t)wanted) give_up("the log cannot be written");
  log_size += wanted;
}

/* The name within the folder, "" for the folder itself, NULL if not recorded. */
static const char *name_of(const char *path) {
  if (log_fd < 0 || strncmp(path, folder, folder_length) != 0) return NULL;
  const char *rest = path + folder_length;
  if (*rest == '\0') return rest;
  if (*rest != '/') return NULL;
  rest += 1;
  size_t length = strlen(rest);
  if (strchr(rest, '/') != NULL) return NULL;
  if (length >= 4 && strcmp(rest + length - 4, "-shm") == 0) return NULL;
  return rest;
}

static int open_recorded(const char *name, const char *path, int flags, mode_t mode, int is_64) {
  pthread_mutex_lock(&lock);
  struct stat before;
  int existed = stat(path, &before) == 0;
  int fd = is_64 ? REAL(open64)(path, flags, mode) : REAL(open)(path, flags, mode);
  int error = errno;
  struct stat now;
  if (fd >= 0 && fd < MOST_DESCRIPTORS && fstat(fd, &now) == 0) {
    int is_folder = *name == '\0';
    descriptors[fd].file = is_folder ? FOLDER_ITSELF : now.st_ino;
    descriptors[fd].recorded = 1;
    if (!existed) append(CREATE, now.st_ino, 0, name, strlen(name));
    else if ((flags & O_TRUNC) != 0 && !is_folder) append(TRUNCATE, now.st_ino, 0, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}

#define TAKE_MODE                                                                                                    \
  mode_t mode = 0;                                                                                                   \
  if ((flags & O_CREAT) != 0) {                                                                                      \
    va_list rest;                                                                                                    \
    va_start(rest, flags);                                                                                           \
    mode = va_arg(rest, mode_t);                                                                                     \
    va_end(rest);                                                                                                    \
  }

int open(const char *path, int flags, ...) {
  TAKE_MODE
  const char *name = name_of(path);
  return name == NULL ? REAL(open)(path, flags, mode) : open_recorded(name, path, flags, mode, 0);
}

int open64(const char *path, int flags, ...) {
  TAKE_MODE
  const char *name = name_of(path);
  return name == NULL ? REAL(open64)(path, flags, mode) : open_recorded(name, path, flags, mode, 1);
}

int close(int fd) {
  if (fd >= 0 && fd < MOST_DESCRIPTORS) descriptors[fd].recorded = 0;
  return REAL(close)(fd);
}

static struct descriptor *recorded(int fd) {
  return fd >= 0 && fd < MOST_DESCRIPTORS && descriptors[fd].recorded ? &descriptors[fd] : NULL;
}

#define RECORDED_WRITE(call, position)                                                                               \
  struct descriptor *to = recorded(fd);                                                                              \
  if (to == NULL) return call;                                                                                       \
  pthread_mutex_lock(&lock);                                                                                         \
  off_t at = position;                                                                                               \
  ssize_t written = call;                                                                                            \
  int error = errno;                                                                                                 \
  if (written > 0) append(WRITE, to->file, at, bytes, written);                                                      \
  pthread_mutex_unlock(&lock);                                                                                       \
  errno = error;                                                                                                     \
  return written;

ssize_t write(int fd, const void *bytes, size_t length) {
  RECORDED_WRITE(REAL(write)(fd, bytes, length), lseek(fd, 0, SEEK_CUR))
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
  RECORDED_WRITE(REAL(pwrite)(fd, bytes, length, offset), offset)
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  RECORDED_WRITE(REAL(pwrite64)(fd, bytes, length, offset), offset)
}

#define RECORDED_TRUNCATION(call)                                                                                    \
  struct descriptor *of = recorded(fd);                                                                              \
  if (of == NULL) return call;                                                                                       \
  pthread_mutex_lock(&lock);                                                                                         \
  int result = call;                                                                                                 \
  int error = errno;                                                                                                 \
  if (result == 0) append(TRUNCATE, of->file, size, NULL, 0);                                                        \
  pthread_mutex_unlock(&lock);                                                                                       \
  errno = error;                                                                                                     \
  return result;

int ftruncate(int fd, off_t size) { RECORDED_TRUNCATION(REAL(ftruncate)(fd, size)) }

int ftruncate64(int fd, off64_t size) { RECORDED_TRUNCATION(REAL(ftruncate64)(fd, size)) }

static int sync_recorded(struct descriptor *of, int fd, int (*sync)(int)) {
  pthread_mutex_lock(&lock);
  uint64_t file = of->file, began = log_size;
  append(SYNC_BEGIN, file, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  int result = sync(fd);
  int error = errno;
  if (result == 0) {
    pthread_mutex_lock(&lock);
    append(SYNC_END, file, began, NULL, 0);
    pthread_mutex_unlock(&lock);
  }
  errno = error;
  return result;
}

int fsync(int fd) {
  struct descriptor *of = recorded(fd);
  return of == NULL ? REAL(fsync)(fd) : sync_recorded(of, fd, REAL(fsync));
}

int fdatasync(int fd) {
  struct descriptor *of = recorded(fd);
  return of == NULL ? REAL(fdatasync)(fd) : sync_recorded(of, fd, REAL(fdatasync));
}

int unlink(const char *path) {
  const char *name = name_of(path);
  if (name == NULL) return REAL(unlink)(path);
  pthread_mutex_lock(&lock);
  int result = REAL(unlink)(path);
  int error = errno;
  if (result == 0) append(UNLINK, 0, 0, name, strlen(name));
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int rename(const char *from, const char *to) {
  const char *old_name = name_of(from), *new_name = name_of(to);
  if (old_name == NULL || new_name == NULL) return REAL(rename)(from, to);
  char both[2 * NAME_MAX + 2];
  int length = snprintf(both, sizeof both, "%s/%s", old_name, new_name);
  pthread_mutex_lock(&lock);
  int result = REAL(rename)(from, to);
  int error = errno;
  if (result == 0) append(RENAME, 0, 0, both, length);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}
