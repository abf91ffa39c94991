import type { DriverParts } from '#agent/site/drivers/open.ts';
import { createRequests } from '#agent/site/drivers/requests.ts';
import { silentLog } from '#base/log.ts';

/** What drivers of a site without neighbours need: nothing is kept, nobody is woken, and no program is started. */
export function driverParts(): DriverParts {
  const suites = new Map<string, number>();
  const learnt = new Map<string, object>();
  return {
    pins: { find: () => undefined, keep: () => {} },
    ciphers: {
      find: (address) => suites.get(address),
      keep: (address, suite) => void suites.set(address, suite),
    },
    memories: {
      of: (address) => {
        const memory = learnt.get(address) ?? {};
        learnt.set(address, memory);
        return memory as never;
      },
    },
    ipmitool: '/nonexistent/ipmitool',
    firmwareOf: () => undefined,
    wake: async () => {},
    manual: { requests: createRequests({ add: () => {} }, () => {}), bootedSince: () => false },
    credentialsOf: async () => ({ username: 'admin', password: 'password' }),
    log: silentLog(),
  };
}
