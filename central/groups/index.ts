import type { Group } from '../api/method.ts';
import { audit } from './audit.ts';
import { discovery } from './discovery.ts';
import { images } from './images.ts';
import { metal } from './metal.ts';
import { nodes } from './nodes.ts';
import { pools } from './pools.ts';
import { profiles } from './profiles.ts';
import { secrets } from './secrets.ts';
import { sites } from './sites.ts';
import { tenants } from './tenants.ts';
import { tokens } from './tokens.ts';
import { workflows } from './workflows.ts';

/** Every group of the API: `POST /api/compute/<group>/<method>`. */
export const groups: Readonly<Record<string, Group>> = {
  audit,
  discovery,
  images,
  metal,
  nodes,
  pools,
  profiles,
  secrets,
  sites,
  tenants,
  tokens,
  workflows,
};
