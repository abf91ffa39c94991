import { Command } from 'commander';
import { backUpBooks } from '#central/store/backup.ts';
import { hostFolder, printJson } from './options.ts';

/** `railhead central backup DEST`: a copy of the books, whether the centre runs or not. */
export function backupCommand(): Command {
  return hostFolder(new Command('backup'))
    .description(
      'copy the SQLite database to a new file while the centre runs, checked and on disk; keys/ is apart: copy it too, elsewhere',
    )
    .argument('<file>')
    .action(async (file: string, { directory }: { directory: string }) =>
      printJson(await backUpBooks(directory, file)),
    );
}
