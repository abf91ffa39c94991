import Database from 'better-sqlite3';
import pg from 'pg';
import { databaseOf } from '#central/store/database.ts';

/** What the database is to refuse, e.g. `UPDATE ON nodes`, and of which rows. */
export interface Refusal {
  write: string;
  when: string;
}

/** Makes a centre's database refuse some writes, as a full disk does, until the returned function is called. */
export function refuseWrites(directory: string, refusal: Refusal): Promise<() => Promise<void>> {
  const database = databaseOf(directory);
  return database.dialect === 'sqlite'
    ? refuseInSqlite(database.file, refusal)
    : refuseInPostgres(database.url, refusal);
}

async function refuseInSqlite(file: string, { write, when }: Refusal): Promise<() => Promise<void>> {
  const database = new Database(file);
  const full = "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END";
  database.exec(`CREATE TRIGGER refusal BEFORE ${write} WHEN ${when} ${full}`);
  return async () => {
    database.exec('DROP TRIGGER refusal');
    database.close();
  };
}

async function refuseInPostgres(url: string, { write, when }: Refusal): Promise<() => Promise<void>> {
  const client = new pg.Client(url);
  await client.connect();
  const full = "BEGIN RAISE EXCEPTION 'disk is full' USING ERRCODE = 'disk_full'; END";
  await client.query(`CREATE FUNCTION refusal() RETURNS trigger LANGUAGE plpgsql AS $$ ${full} $$`);
  await client.query(
    `CREATE TRIGGER refusal BEFORE ${write} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION refusal()`,
  );
  return async () => {
    await client.query('DROP FUNCTION refusal CASCADE');
    await client.end();
  };
}
