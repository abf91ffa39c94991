import Type, { type Static } from 'typebox';
import { durationPattern } from '#contract/durations.ts';

const ipv4 = '^(\\d{1,3}\\.){3}\\d{1,3}$';
const listen = '^(\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-f:]+\\]):\\d{1,5}$';
const size = '^[1-9]\\d*(MiB|GiB|TiB)$';
const closed = { additionalProperties: false };

const Address = (description: string, extra: object = {}) =>
  Type.String({ pattern: ipv4, description, ...extra });

const Central = Type.Object(
  {
    url: Type.Optional(
      Type.String({
        pattern: '^https://[^/]+$',
        description: 'Base URL of the centre; without it the one that `bcd join` was given.',
      }),
    ),
  },
  { ...closed, default: {}, description: 'The link to the centre.' },
);

const Provisioning = Type.Object(
  {
    interface: Type.String({
      pattern: '^[^\\s/]{1,15}$',
      description: 'The network interface that DHCP is served on.',
    }),
    address: Address("The site's own address on that network; DHCP, TFTP and HTTP boot answer there."),
    prefixLength: Type.Integer({
      minimum: 8,
      maximum: 30,
      default: 24,
      description: 'The network mask, in bits.',
    }),
    poolStart: Address('First address that is given to machines without a reservation.'),
    poolEnd: Address('Last address of that pool.'),
    router: Type.Optional(Address('Default gateway for machines; the site itself when left out.')),
    dns: Type.Array(Address('A name server.'), { default: [], description: 'Name servers for machines.' }),
    leaseTime: Type.String({
      pattern: durationPattern,
      default: '1h',
      description: 'How long an address is lent.',
    }),
  },
  { ...closed, description: 'The network that machines boot on.' },
);

const Boot = Type.Object(
  {
    httpPort: Type.Integer({
      minimum: 1,
      maximum: 65_535,
      default: 8080,
      description: 'Port of the boot listener: iPXE scripts and image bytes, no TLS.',
    }),
    ipxeDirectory: Type.String({
      minLength: 1,
      default: '/usr/lib/ipxe',
      description:
        'Where the iPXE binaries are (`snponly.efi`, `undionly.kpxe`); the default is where Debian has them.',
    }),
    dhcpPort: Type.Integer({
      minimum: 1,
      maximum: 65_535,
      default: 67,
      description: 'Port of the DHCP server; firmware asks 67 only, others are for trials.',
    }),
    tftpPort: Type.Integer({
      minimum: 1,
      maximum: 65_535,
      default: 69,
      description: 'Port of the TFTP server; firmware asks 69 only, others are for trials.',
    }),
    consoles: Type.Array(Type.String({ pattern: '^[A-Za-z0-9,]{1,32}$' }), {
      default: [],
      description: 'Kernel consoles of the ramdisk, e.g. `ttyS0,115200`; the last one is its main one.',
    }),
  },
  { ...closed, default: {}, description: 'What machines boot from.' },
);

const Machine = Type.Object(
  {
    listen: Type.Optional(
      Type.String({
        pattern: listen,
        description:
          'Address and port of the TLS listener for ramdisks; the provisioning address and 8443 when left out.',
      }),
    ),
  },
  { ...closed, default: {}, description: 'The door for machines.' },
);

const Admin = Type.Object(
  {
    listen: Type.String({
      pattern: listen,
      default: '127.0.0.1:9090',
      description:
        'Address and port of the admin listener, for the management network: health, metrics, inventory.',
    }),
    socket: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Local socket with the same routes; `bcd.sock` in the state directory when left out.',
      }),
    ),
  },
  { ...closed, default: {}, description: 'The door for operators.' },
);

const Cache = Type.Object(
  {
    directory: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Where images are kept; `images` in the state directory when left out.',
      }),
    ),
    quota: Type.String({
      pattern: size,
      default: '50GiB',
      description: 'The most that images may take on disk (`MiB`, `GiB`, `TiB`).',
    }),
    sourceCaFile: Type.Optional(
      Type.String({ minLength: 1, description: "PEM of a CA for image sources, beside the system's." }),
    ),
    parallelPulls: Type.Integer({ minimum: 1, maximum: 16, default: 2, description: 'Downloads at a time.' }),
  },
  { ...closed, default: {}, description: 'The image cache.' },
);

const Secrets = Type.Object(
  {
    directory: Type.String({
      minLength: 1,
      default: '/etc/bcd/secrets',
      description:
        "BMC credentials that the centre does not keep: `secret://a/b` is the file `a/b` in here (or `a.b` in systemd's credentials directory), one line `username:password`.",
    }),
    keyFile: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "File with the key (base64 of 32 bytes) that secrets from the centre and the site's private keys are encrypted by on this disk; systemd's credential `bcd.at-rest-key` goes before it, and without either a key is made in the state directory.",
      }),
    ),
  },
  {
    ...closed,
    default: {},
    description: 'Secrets of this site, and what those from the centre are encrypted by.',
  },
);

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
    machine: Machine,
    admin: Admin,
    cache: Cache,
    secrets: Secrets,
  },
  closed,
);
export type SiteConfig = Readonly<Static<typeof SiteConfig>>;
