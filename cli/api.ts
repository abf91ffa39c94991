import type { Command } from 'commander';
import { auditCommand } from './audit.ts';
import type { CliEnvironment } from './client.ts';
import { discoveryCommand } from './discovery.ts';
import { imagesCommand } from './images.ts';
import { metalCommand } from './metal.ts';
import { nodesCommand } from './nodes.ts';
import { poolsCommand } from './pools.ts';
import { profilesCommand } from './profiles.ts';
import { secretsCommand } from './secrets.ts';
import { sitesCommand } from './sites.ts';
import { tenantsCommand } from './tenants.ts';
import { tokensCommand } from './tokens.ts';
import { workflowsCommand } from './workflows.ts';

/** Every command that calls the centre's API. */
export function apiCommands(environment: CliEnvironment): Command[] {
  return [
    sitesCommand(environment),
    discoveryCommand(environment),
    poolsCommand(environment),
    imagesCommand(environment),
    profilesCommand(environment),
    nodesCommand(environment),
    metalCommand(environment),
    secretsCommand(environment),
    workflowsCommand(environment),
    tenantsCommand(environment),
    tokensCommand(environment),
    auditCommand(environment),
  ];
}
