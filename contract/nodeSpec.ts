import Type, { type Static } from 'typebox';
import { Mac } from './bootEntry.ts';
import { BootQuirks } from './bootQuirks.ts';
import { ConsoleRecording } from './consoleRecording.ts';
import { CacheImage, Digest } from './images.ts';
import { Loader } from './loader.ts';
import { SecretRef, SecretVersion } from './secrets.ts';

const closed = { additionalProperties: false };

/** What a site can drive a machine by: two kinds of BMC, and what there is without one. */
export const bmcDrivers = ['redfish', 'ipmi', 'wake-on-lan', 'manual'] as const;
export type BmcDriver = (typeof bmcDrivers)[number];

/** How a site reaches a machine's BMC. The secret is one that the centre keeps for the machine's tenant, else a file at the site. */
export const BmcBinding = Type.Object(
  {
    driver: Type.Enum([...bmcDrivers]),
    /** `https://host[:port]` for `redfish`, `ipmi://host[:port]` for `ipmi`; the other two have none. */
    address: Type.Optional(Type.String({ pattern: '^(https|ipmi)://[^/@\\s]+$' })),
    credentialRef: Type.Optional(SecretRef),
    /** sha256 of the BMC's certificate (DER) in lower-case hex; without it the first one seen is pinned. */
    certificateSha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
    /** How its serial console is reached: by its SSH, by IPMI's Serial over LAN, or (`auto`, the default) by SSH where it has that, else by IPMI. */
    console: Type.Optional(Type.Enum(['auto', 'ssh', 'sol'])),
    /** The host key of its SSH as OpenSSH writes it; without it the first one seen is pinned. */
    sshHostKey: Type.Optional(Type.String({ pattern: '^SHA256:[A-Za-z0-9+/]{43}$' })),
    /** Speak TLS 1.0 and weak ciphers, and SSH's old algorithms, with this one BMC, which has no better; its certificate and key are pinned all the same. */
    oldTls: Type.Optional(Type.Boolean()),
    /** Which firmware an IPMI boot device is for; default: what the machine was seen to boot by, else `uefi`. */
    firmware: Type.Optional(Type.Enum(['uefi', 'bios'])),
    /** `network-first`: the machine always tries the network before its disk, so that a driver that sets no boot device need not. */
    bootOrder: Type.Optional(Type.Enum(['network-first'])),
  },
  closed,
);
export type BmcBinding = Static<typeof BmcBinding>;

/** Which driver does one concern's work for a node, e.g. `power` by `redfish`, and what it needs to know. */
export const DriverBinding = Type.Object(
  { driver: Type.String(), config: Type.Optional(Type.Record(Type.String(), Type.Unknown())) },
  closed,
);
export type DriverBinding = Static<typeof DriverBinding>;
/** The bindings of one node by concern: `power`, `management`, `virtual-media`, `boot`, `deploy`, `inspect`, … */
export const DriverBindings = Type.Record(Type.String(), DriverBinding);
export type DriverBindings = Static<typeof DriverBindings>;

/** A machine as its site knows it. */
export const SiteNode = Type.Object(
  {
    nodeId: Type.String(),
    macs: Type.Array(Mac),
    uuid: Type.Optional(Type.String()),
    hostname: Type.Optional(Type.String()),
    /** A reserved address on the provisioning network. */
    address: Type.Optional(Type.String()),
    /** What its firmware needs in boot replies: its own quirks and those of its pool. */
    bootQuirks: Type.Optional(BootQuirks),
    /** What its UEFI firmware is handed; left out, the site's own choice counts. */
    loader: Type.Optional(Loader),
    bmc: Type.Optional(BmcBinding),
    /** What its serial port prints is to be kept as events until then. */
    recording: Type.Optional(ConsoleRecording),
    /** What the BMC's `credentialRef` stands for, when the centre keeps it; the site asks for it by a `SecretRequest`. */
    bmcSecret: Type.Optional(SecretVersion),
    /** What the BMC is being given in its place: whichever of the two it takes is right, until the centre knows which. */
    bmcNextSecret: Type.Optional(SecretVersion),
  },
  closed,
);
export type SiteNode = Static<typeof SiteNode>;

/** What a site agent is to hold, know and serve. */
export const SiteSection = Type.Object(
  {
    cacheImages: Type.Array(CacheImage),
    /** Digests that were withdrawn: they are neither served nor booted, and what is held of them goes. */
    withdrawn: Type.Optional(Type.Array(Digest)),
    /** Digests that deploys stream now: a copy that is here is not evicted, whether it is among `cacheImages` or not. */
    pinned: Type.Optional(Type.Array(Digest)),
    nodes: Type.Array(SiteNode),
    /** What machines boot next, each a BootEntry signed by the centre (compact JWS). Left out: what the site has stays. */
    bootEntries: Type.Optional(Type.Array(Type.String())),
  },
  closed,
);
export type SiteSection = Static<typeof SiteSection>;

/** One unit of a host's configuration, e.g. `sysctl`. */
export const HostUnit = Type.Object(
  { unit: Type.String(), settings: Type.Record(Type.String(), Type.Unknown()) },
  closed,
);
export type HostUnit = Static<typeof HostUnit>;
/** What an installed OS converges to: the units that apply to this machine, in the order of their application. */
export const HostSection = Type.Object({ units: Type.Array(HostUnit) }, closed);
export type HostSection = Static<typeof HostSection>;

export const NodeSpecRole = Type.Enum(['site', 'ramdisk', 'node']);
export type NodeSpecRole = Static<typeof NodeSpecRole>;

/**
 * The desired state of one agent, whatever its role: `nodeId` is the identity that it joined as. The generation grows when,
 * and only when, the content changes; the agent reports the generation that it has observed.
 */
export const NodeSpec = Type.Object(
  {
    nodeId: Type.String(),
    role: NodeSpecRole,
    generation: Type.Integer({ minimum: 0 }),
    /** For ramdisk and node: the bindings of the machine. */
    drivers: Type.Optional(DriverBindings),
    /** For a node whose deploy has succeeded. */
    host: Type.Optional(HostSection),
    /** For a site. */
    site: Type.Optional(SiteSection),
  },
  closed,
);
export type NodeSpec = Static<typeof NodeSpec>;
/** What the generation counts the changes of. */
export type NodeSpecContent = Pick<NodeSpec, 'drivers' | 'host' | 'site'>;
