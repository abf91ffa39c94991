import { Command } from 'commander';
import { callAndPrint, listAndPrint } from './call.ts';
import { apiCommand, type CliEnvironment, type ClientFlags } from './client.ts';

type InventoryFlags = ClientFlags & { url?: string | null; pin?: string };

/** `railhead sites …`: the locations where a site agent stands. */
export function sitesCommand(environment: CliEnvironment): Command {
  const create = apiCommand('create', 'put a site into the books')
    .requiredOption('--name <name>', 'for people')
    .action((flags: ClientFlags & { name: string }) =>
      callAndPrint(environment, flags, 'sites.create', { name: flags.name }),
    );
  const list = apiCommand('list', 'every site, with its open alarms').action((flags: ClientFlags) =>
    listAndPrint(environment, flags, 'sites.list', {
      columns: ['siteId', 'name', 'generation', 'observedGeneration', 'seenAt', 'mediaFrom', 'alarms'],
    }),
  );
  const images = apiCommand('images', 'what the cache of a site holds, of the images in the catalog')
    .argument('<site-id>')
    .action((siteId: string, flags: ClientFlags) => {
      const columns = ['ref', 'tenantId', 'state', 'sizeBytes', 'receivedBytes', 'pinned', 'usedAt'];
      return listAndPrint(environment, flags, 'sites.images', { input: { siteId }, columns });
    });
  const acknowledge = apiCommand(
    'acknowledge',
    'take the open alarms off the record: an operator has seen them',
  )
    .argument('<site-id>')
    .action((siteId: string, flags: ClientFlags) =>
      callAndPrint(environment, flags, 'sites.acknowledge', { siteId }),
    );
  const inventory = apiCommand(
    'inventory',
    'have the centre read what the cache of a site holds, besides what the site reports; without --url not any more',
  )
    .argument('<site-id>')
    .option(
      '--url <url>',
      'http:// or https://, host and port, of its admin listener or what stands before it',
    )
    .option('--pin <sha256>', 'sha256 of the certificate there (DER), in lower-case hex')
    .action((siteId: string, { url = null, pin, ...flags }: InventoryFlags) =>
      callAndPrint(environment, flags, 'sites.setInventory', { siteId, url, ...(pin && { pin }) }),
    );
  return [create, list, images, inventory, acknowledge].reduce(
    (command, sub) => command.addCommand(sub),
    new Command('sites').description('the sites of the centre'),
  );
}
