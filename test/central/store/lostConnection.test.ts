import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { onHost } from '#central/host.ts';
import { databaseOf } from '#central/store/database.ts';
import { osImage, startTestCentre } from '../centre.ts';
import { dialect } from '../directory.ts';
import { deploy, follow, workflow } from '../line.ts';
import { sampleProfile } from '../sampleProfile.ts';
import { instead, setStage } from '../stage.ts';

const writers = 8;
const rounds = 5;

/** Ends every connection of the centres in `directory`, as a restart of the server or a fail-over does. */
async function cutConnections(directory: string): Promise<void> {
  const database = databaseOf(directory);
  if (database.dialect !== 'postgres') throw new Error('only PostgreSQL has connections');
  const client = new pg.Client(database.url);
  await client.connect();
  const others = 'datname = current_database() AND pid <> pg_backend_pid()';
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`);
  await client.end();
}

describe.runIf(dialect === 'postgres')('while connections to PostgreSQL are cut', () => {
  test('writes fail with UNAVAILABLE or last, and the centre goes on', async () => {
    const centre = await startTestCentre();
    await centre.call('images.register', osImage({ ref: 'first@1' }));
    const acknowledged: string[] = ['first@1'];
    const refusals = new Set<string>();
    let over = false;
    const write = async (name: string) => {
      for (let turn = 1; !over; turn++) {
        const ref = `${name}@${turn}`;
        const { status, error } = await centre.call('images.register', osImage({ ref }));
        if (status === 200) acknowledged.push(ref);
        else refusals.add(`${status} ${error.code}`);
      }
    };
    const writing = Array.from({ length: writers }, (_, at) => write(`w${at}`));
    for (let round = 0; round < rounds; round++) {
      const enough = acknowledged.length + 20;
      await expect.poll(() => acknowledged.length, { timeout: 10_000, interval: 5 }).toBeGreaterThan(enough);
      await cutConnections(centre.directory);
    }
    over = true;
    await Promise.all(writing);
    expect([...refusals]).toEqual(['503 UNAVAILABLE']);
    const stored = await onHost(centre.directory, ({ store }) =>
      store.selectFrom('images').select('ref').execute(),
    );
    expect(stored.map(({ ref }) => ref)).toEqual(expect.arrayContaining(acknowledged));
    await centre.close();
  });

  test('a workflow goes on, and each of its operations is handed out once', async () => {
    const cutting = instead('management.setBootDevice', async (operation, site) => {
      for (let round = 0; round < rounds; round++) await cutConnections(stage.line.directory);
      const report = () =>
        site.succeed(operation).then(
          () => true,
          () => false,
        );
      await expect.poll(report).toBe(true);
    });
    const stage = await setStage(cutting, sampleProfile, { log: silentLog() });
    const workflowId = await deploy(stage.line, 'node-1');
    // Who follows it is told that the database went away, as everybody is, and follows again.
    const followed = () =>
      follow(stage.line.call, workflowId).then(
        () => 'to its end',
        ({ message }) => message,
      );
    await expect.poll(followed, { timeout: 15_000 }).toBe('to its end');
    expect(await workflow(stage.line.call, workflowId)).toMatchObject({ state: 'succeeded' });
    const asked = stage.site.taken.map(({ operationId }) => operationId);
    expect(new Set(asked).size).toBe(asked.length);
    await stage.close();
  });
});
