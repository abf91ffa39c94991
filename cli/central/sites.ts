import { Command } from 'commander';
import { actOnHost, onHost } from '#central/host.ts';
import { createSite } from '#central/sites.ts';
import { hostFolder, printJson } from './options.ts';

/** `railhead central site …`: what setting up a site needs on the centre's host. */
export function sitesCommand(): Command {
  const create = hostFolder(new Command('create'))
    .description('put a site into the books; then mint its join token')
    .requiredOption('--name <name>', 'for people, e.g. lab')
    .action(({ directory, name }: { directory: string; name: string }) =>
      actOnHost(directory, { command: 'site create', subject: { name } }, async ({ store }) => {
        const { site_id: siteId, created_at: createdAt } = await createSite(store, name);
        printJson({ siteId, name, createdAt });
        return { siteId };
      }),
    );
  const list = hostFolder(new Command('list'))
    .description('every site, with when it was last heard')
    .action(({ directory }: { directory: string }) =>
      onHost(directory, async ({ store }) =>
        printJson(
          await store.selectFrom('sites').select(['site_id', 'name', 'seen_at']).orderBy('name').execute(),
        ),
      ),
    );
  return new Command('site').description('the sites of this centre').addCommand(create).addCommand(list);
}
