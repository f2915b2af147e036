// Between the program and the C library: counts the calls about files below one folder and about network sockets, by
// kind, and lets one of them fail. Loaded by LD_PRELOAD; it does nothing until torture_arm is called.
//
// Calls that the C library makes within itself are not seen: fread and fwrite on a FILE*, getaddrinfo.

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// The order of shim.KINDS.
enum { OPEN, READ, WRITE, RENAME, SYNC, LOCK, CUT, REMOVE, MAKE, LOOK, LIST, MAP, CLOSE, SOCKET, CONNECT, SEND, RECV, ALLOC, KINDS };
enum { FILE_OF_OURS = 1, SOCKET_OF_OURS = 2 };

static int armed, wanted, code, forever, fraction, traced;
static long at, hits, counts[KINDS];
static size_t large;
static char folder[4096], place[4096];
static unsigned char watched[1 << 16];

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define NUMBER(fd) ((fd) >= 0 && (fd) < (1 << 16) ? watched[fd] : 0)

static int below(int dir, const char *path) {
    if (!armed || !path) return 0;
    if (path[0] == '/' || dir == AT_FDCWD) return !strncmp(path, folder, strlen(folder));
    return NUMBER(dir) == FILE_OF_OURS;
}

static int fails(int kind, const char *what) {
    long number = __sync_add_and_fetch(&counts[kind], 1);
    if (kind != wanted || at == 0 || number < at || (number > at && !forever)) return 0;
    if (!__sync_fetch_and_add(&hits, 1)) {
        snprintf(place, sizeof place, "%s", what);
        if (traced) raise(SIGUSR1);
    }
    errno = code;
    return 1;
}

static const char *name_of(int fd) {
    static __thread char name[4096];
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, name, sizeof name - 1);
    name[size < 0 ? 0 : size] = 0;
    return name;
}

// A call on a number, such as of a file: whether it is to fail.
static int refused(int fd, int kind) {
    if (!armed || NUMBER(fd) != FILE_OF_OURS) return 0;
    return fails(kind, kind == wanted ? name_of(fd) : "");
}

// The bytes that may pass; -1 if the call is to fail. Half of them is what the system may do at any time.
static ssize_t passes(int fd, int kind, int kind_of_socket, size_t size) {
    if (!armed || !NUMBER(fd)) return size;
    int socket = NUMBER(fd) == SOCKET_OF_OURS;
    int this = socket ? kind_of_socket : kind;
    if (!fails(this, socket ? "socket" : this == wanted ? name_of(fd) : "")) return size;
    if (fraction) return (size + 1) / 2;
    if (socket && code != EINTR) shutdown(fd, SHUT_RDWR), errno = code;  // as its other side would see it
    return -1;
}

// -- what the test calls ----------------------------------------------------------------------------------------------

// count: of the call that fails, from 1; 0 for none.  error: its errno; 0 lets half of the bytes pass.
// again: whether all later ones fail, too.  trace: whether SIGUSR1 is raised there.  bytes: an allocation that counts.
void torture_arm(const char *root, int kind, long count, int error, int again, int trace, size_t bytes) {
    snprintf(folder, sizeof folder, "%s", root);
    memset(counts, 0, sizeof counts);
    hits = 0;
    place[0] = 0;
    wanted = kind, at = count, code = error, forever = again, traced = trace, large = bytes;
    fraction = error == 0;
    armed = 1;
}
void torture_disarm(void) { armed = 0; }
long torture_count(int kind) { return counts[kind]; }
long torture_hits(void) { return hits; }
const char *torture_place(void) { return place; }

// -- files ------------------------------------------------------------------------------------------------------------

static int noted(int fd) {
    if (fd >= 0 && fd < (1 << 16)) watched[fd] = FILE_OF_OURS;
    return fd;
}
#define MODE mode_t mode = 0; if (flags & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }
#define OPENS(name) int name(const char *path, int flags, ...) { REAL(name); MODE \
    if (!below(AT_FDCWD, path)) return real(path, flags, mode); \
    return fails(OPEN, path) ? -1 : noted(real(path, flags, mode)); }
#define OPENS_AT(name) int name(int dir, const char *path, int flags, ...) { REAL(name); MODE \
    if (!below(dir, path)) return real(dir, path, flags, mode); \
    return fails(OPEN, path) ? -1 : noted(real(dir, path, flags, mode)); }
OPENS(open) OPENS(open64) OPENS_AT(openat) OPENS_AT(openat64)

FILE *fopen(const char *path, const char *mode) { REAL(fopen); return below(AT_FDCWD, path) && fails(OPEN, path) ? NULL : real(path, mode); }
FILE *fopen64(const char *path, const char *mode) { REAL(fopen64); return below(AT_FDCWD, path) && fails(OPEN, path) ? NULL : real(path, mode); }
// The number is free even after an error, as Linux has it.
int close(int fd) {
    REAL(close);
    int fail = refused(fd, CLOSE);
    if (fd >= 0 && fd < (1 << 16)) watched[fd] = 0;
    int result = real(fd);
    if (fail) errno = code;
    return fail ? -1 : result;
}
int dup(int fd) { REAL(dup); int other = real(fd); if (other >= 0 && other < (1 << 16)) watched[other] = NUMBER(fd); return other; }

#define PASS(kind, other) ssize_t most = passes(fd, kind, other, size); if (most < 0) return -1
ssize_t read(int fd, void *data, size_t size) { REAL(read); PASS(READ, RECV); return real(fd, data, most); }
ssize_t pread(int fd, void *data, size_t size, off_t from) { REAL(pread); PASS(READ, RECV); return real(fd, data, most, from); }
ssize_t pread64(int fd, void *data, size_t size, off64_t from) { REAL(pread64); PASS(READ, RECV); return real(fd, data, most, from); }
ssize_t write(int fd, const void *data, size_t size) { REAL(write); PASS(WRITE, SEND); return real(fd, data, most); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t to) { REAL(pwrite); PASS(WRITE, SEND); return real(fd, data, most, to); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t to) { REAL(pwrite64); PASS(WRITE, SEND); return real(fd, data, most, to); }
ssize_t sendfile(int fd, int from, off_t *offset, size_t size) { REAL(sendfile); PASS(WRITE, SEND); return real(fd, from, offset, most); }
ssize_t sendfile64(int fd, int from, off64_t *offset, size_t size) { REAL(sendfile64); PASS(WRITE, SEND); return real(fd, from, offset, most); }
ssize_t copy_file_range(int from, off64_t *in, int fd, off64_t *out, size_t size, unsigned flags) {
    REAL(copy_file_range); PASS(WRITE, SEND); return real(from, in, fd, out, most, flags); }
ssize_t readv(int fd, const struct iovec *parts, int size) { REAL(readv); PASS(READ, RECV); return real(fd, parts, most); }
ssize_t writev(int fd, const struct iovec *parts, int size) { REAL(writev); PASS(WRITE, SEND); return real(fd, parts, most); }

int fsync(int fd) { REAL(fsync); return refused(fd, SYNC) ? -1 : real(fd); }
int fdatasync(int fd) { REAL(fdatasync); return refused(fd, SYNC) ? -1 : real(fd); }
int flock(int fd, int how) { REAL(flock); return refused(fd, LOCK) ? -1 : real(fd, how); }
#define CONTROL(name) int name(int fd, int command, ...) { REAL(name); \
    va_list rest; va_start(rest, command); void *value = va_arg(rest, void *); va_end(rest); \
    int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW; \
    if (locks && refused(fd, LOCK)) return -1; \
    int result = real(fd, command, value); \
    if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && result >= 0 && result < (1 << 16)) watched[result] = NUMBER(fd); \
    return result; }
CONTROL(fcntl) CONTROL(fcntl64)
int ftruncate(int fd, off_t size) { REAL(ftruncate); return refused(fd, CUT) ? -1 : real(fd, size); }
int ftruncate64(int fd, off64_t size) { REAL(ftruncate64); return refused(fd, CUT) ? -1 : real(fd, size); }
void *mmap(void *to, size_t size, int how, int flags, int fd, off_t from) {
    REAL(mmap); return refused(fd, MAP) ? MAP_FAILED : real(to, size, how, flags, fd, from); }
void *mmap64(void *to, size_t size, int how, int flags, int fd, off64_t from) {
    REAL(mmap64); return refused(fd, MAP) ? MAP_FAILED : real(to, size, how, flags, fd, from); }

#define NAMED(kind, dir, path) if (below(dir, path) && fails(kind, path)) return -1
int rename(const char *from, const char *to) { REAL(rename); NAMED(RENAME, AT_FDCWD, to); return real(from, to); }
int renameat(int dir, const char *from, int there, const char *to) { REAL(renameat); NAMED(RENAME, there, to); return real(dir, from, there, to); }
int link(const char *from, const char *to) { REAL(link); NAMED(RENAME, AT_FDCWD, to); return real(from, to); }
int unlink(const char *path) { REAL(unlink); NAMED(REMOVE, AT_FDCWD, path); return real(path); }
int rmdir(const char *path) { REAL(rmdir); NAMED(REMOVE, AT_FDCWD, path); return real(path); }
int unlinkat(int dir, const char *path, int flags) { REAL(unlinkat); NAMED(REMOVE, dir, path); return real(dir, path, flags); }
int mkdir(const char *path, mode_t mode) { REAL(mkdir); NAMED(MAKE, AT_FDCWD, path); return real(path, mode); }
int mkdirat(int dir, const char *path, mode_t mode) { REAL(mkdirat); NAMED(MAKE, dir, path); return real(dir, path, mode); }
int stat(const char *path, struct stat *to) { REAL(stat); NAMED(LOOK, AT_FDCWD, path); return real(path, to); }
int stat64(const char *path, struct stat64 *to) { REAL(stat64); NAMED(LOOK, AT_FDCWD, path); return real(path, to); }
int lstat(const char *path, struct stat *to) { REAL(lstat); NAMED(LOOK, AT_FDCWD, path); return real(path, to); }
int lstat64(const char *path, struct stat64 *to) { REAL(lstat64); NAMED(LOOK, AT_FDCWD, path); return real(path, to); }
int fstatat(int dir, const char *path, struct stat *to, int flags) { REAL(fstatat); NAMED(LOOK, dir, path); return real(dir, path, to, flags); }
int fstatat64(int dir, const char *path, struct stat64 *to, int flags) { REAL(fstatat64); NAMED(LOOK, dir, path); return real(dir, path, to, flags); }
int fstat(int fd, struct stat *to) { REAL(fstat); return refused(fd, LOOK) ? -1 : real(fd, to); }
int fstat64(int fd, struct stat64 *to) { REAL(fstat64); return refused(fd, LOOK) ? -1 : real(fd, to); }
DIR *opendir(const char *path) { REAL(opendir); return below(AT_FDCWD, path) && fails(LIST, path) ? NULL : real(path); }
DIR *fdopendir(int fd) { REAL(fdopendir); return refused(fd, LIST) ? NULL : real(fd); }
#define NEXT(name, entry) struct entry *name(DIR *folder) { REAL(name); return refused(dirfd(folder), LIST) ? NULL : real(folder); }
NEXT(readdir, dirent) NEXT(readdir64, dirent64)

// -- the network ------------------------------------------------------------------------------------------------------

int socket(int family, int type, int protocol) {
    REAL(socket);
    if (!armed || (family != AF_INET && family != AF_INET6)) return real(family, type, protocol);
    if (fails(SOCKET, "socket")) return -1;
    int fd = real(family, type, protocol);
    if (fd >= 0 && fd < (1 << 16)) watched[fd] = SOCKET_OF_OURS;
    return fd;
}
int connect(int fd, const struct sockaddr *to, socklen_t size) {
    REAL(connect);
    if (armed && NUMBER(fd) == SOCKET_OF_OURS && fails(CONNECT, "socket")) return -1;
    return real(fd, to, size);
}
ssize_t send(int fd, const void *data, size_t size, int flags) { REAL(send); PASS(SEND, SEND); return real(fd, data, most, flags); }
ssize_t recv(int fd, void *data, size_t size, int flags) { REAL(recv); PASS(RECV, RECV); return real(fd, data, most, flags); }
ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length) {
    REAL(sendto); PASS(SEND, SEND); return real(fd, data, most, flags, to, length); }
ssize_t recvfrom(int fd, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *length) {
    REAL(recvfrom); PASS(RECV, RECV); return real(fd, data, most, flags, from, length); }

// -- time: SQLite waits ten seconds for a lock that no one holds --------------------------------------------------------

int usleep(useconds_t time) { REAL(usleep); return real(armed ? time / 1000 : time); }

// -- memory: large pieces alone, for an interpreter does not bear that it has none at all -----------------------------

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static int denied(size_t size) { return armed && size >= large && fails(ALLOC, "memory"); }
void *malloc(size_t size) { return denied(size) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return denied(count * size) ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return denied(size) ? NULL : __libc_realloc(old, size); }
