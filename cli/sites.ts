import { Command } from 'commander';
import { listAndPrint } from './call.ts';
import { apiCommand, type CliEnvironment, type ClientFlags, withApi } from './client.ts';
import { allPages } from './pages.ts';
import { printList, printRecord } from './print.ts';

/** `railhead sites …`: the locations where a site agent stands. */
export function sitesCommand(environment: CliEnvironment): Command {
  const create = apiCommand('create', 'put a site into the books')
    .requiredOption('--name <name>', 'for people')
    .action(async (flags: ClientFlags & { name: string }) => {
      const input = { name: flags.name };
      printRecord(
        await withApi(environment, flags, (call) => call<object>('sites.create', input)),
        flags.format,
      );
    });
  const list = apiCommand('list', 'every site').action(async (flags: ClientFlags) => {
    const sites = await withApi(environment, flags, (call) => allPages<object>(call, 'sites.list', {}));
    printList(sites, ['siteId', 'name', 'generation', 'observedGeneration', 'seenAt'], flags.format);
  });
  const images = apiCommand('images', 'what the cache of a site holds, of the images in the catalog')
    .argument('<site-id>')
    .action((siteId: string, flags: ClientFlags) => {
      const columns = ['ref', 'tenantId', 'state', 'sizeBytes', 'receivedBytes', 'pinned', 'usedAt'];
      return listAndPrint(environment, flags, 'sites.images', { input: { siteId }, columns });
    });
  return new Command('sites')
    .description('the sites of the centre')
    .addCommand(create)
    .addCommand(list)
    .addCommand(images);
}
