import type { Command } from 'commander';
import type { CliEnvironment } from './client.ts';
import { imagesCommand } from './images.ts';
import { metalCommand } from './metal.ts';
import { nodesCommand } from './nodes.ts';
import { poolsCommand } from './pools.ts';
import { profilesCommand } from './profiles.ts';
import { secretsCommand } from './secrets.ts';
import { sitesCommand } from './sites.ts';
import { workflowsCommand } from './workflows.ts';

/** Every command that calls the centre's API. */
export function apiCommands(environment: CliEnvironment): Command[] {
  return [
    sitesCommand(environment),
    poolsCommand(environment),
    imagesCommand(environment),
    profilesCommand(environment),
    nodesCommand(environment),
    metalCommand(environment),
    secretsCommand(environment),
    workflowsCommand(environment),
  ];
}
