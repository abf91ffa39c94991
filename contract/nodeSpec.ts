import Type, { type Static } from 'typebox';
import { Mac } from './bootEntry.ts';
import { CacheImage } from './images.ts';

const closed = { additionalProperties: false };

/** How a site reaches a machine's BMC. The secret itself is looked up at the site; it never travels. */
export const BmcBinding = Type.Object(
  {
    driver: Type.Enum(['redfish'], { default: 'redfish' }),
    /** `https://host[:port]`. */
    address: Type.String({ pattern: '^https://[^/]+$' }),
    credentialRef: Type.String({ pattern: '^secret://[A-Za-z0-9._/-]{1,200}$' }),
    /** sha256 of the BMC's certificate (DER) in lower-case hex; without it the first one seen is pinned. */
    certificateSha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
  },
  closed,
);
export type BmcBinding = Static<typeof BmcBinding>;

export const SiteNode = Type.Object(
  {
    nodeId: Type.String(),
    macs: Type.Array(Mac),
    uuid: Type.Optional(Type.String()),
    hostname: Type.Optional(Type.String()),
    /** A reserved address on the provisioning network. */
    address: Type.Optional(Type.String()),
    bmc: Type.Optional(BmcBinding),
  },
  closed,
);
export type SiteNode = Static<typeof SiteNode>;

/** The desired state of one site agent; the agent reports the generation it has observed. */
export const SiteSpec = Type.Object(
  {
    siteId: Type.String(),
    generation: Type.Integer({ minimum: 0 }),
    cacheImages: Type.Array(CacheImage),
    nodes: Type.Array(SiteNode),
  },
  closed,
);
export type SiteSpec = Static<typeof SiteSpec>;
