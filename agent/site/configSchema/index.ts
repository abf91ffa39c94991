import Type, { type Static } from 'typebox';
import { Admin } from './admin.ts';
import { Bmc } from './bmc.ts';
import { Boot } from './boot.ts';
import { Cache } from './cache.ts';
import { Central } from './central.ts';
import { Machine } from './machine.ts';
import { closed } from './parts.ts';
import { Provisioning } from './provisioning.ts';
import { Secrets } from './secrets.ts';
import { Syslog } from './syslog.ts';

/** What `config.toml` may say. Names are camelCase, as in every other document of Railhead. */
export const SiteConfig = Type.Object(
  {
    stateDirectory: Type.String({
      minLength: 1,
      default: '/var/lib/bcd',
      description: 'Where the identity from `bcd join`, the journal and the leases are kept.',
    }),
    logLevel: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], {
      default: 'info',
      description: 'The least severe level that is logged.',
    }),
    central: Central,
    provisioning: Provisioning,
    boot: Boot,
    syslog: Syslog,
    machine: Machine,
    admin: Admin,
    cache: Cache,
    secrets: Secrets,
    bmc: Bmc,
  },
  closed,
);
export type SiteConfig = Readonly<Static<typeof SiteConfig>>;
