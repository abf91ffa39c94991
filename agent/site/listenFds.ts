/** Descriptors that systemd passes start here (sd_listen_fds(3)). */
const firstFd = 3;

/**
 * The sockets that the service manager has bound, by the name of their unit's `FileDescriptorName=` and in its order. Empty when it passed none,
 * or when they were meant for another process.
 */
export function listenFds(environment: NodeJS.ProcessEnv, pid = process.pid): Map<string, number[]> {
  const { LISTEN_PID, LISTEN_FDS = '0', LISTEN_FDNAMES = '' } = environment;
  if (Number(LISTEN_PID) !== pid) return new Map();
  const names = LISTEN_FDNAMES.split(':').slice(0, Number(LISTEN_FDS));
  const fds = new Map<string, number[]>();
  for (const [index, name] of names.entries()) fds.set(name, [...(fds.get(name) ?? []), firstFd + index]);
  return fds;
}
