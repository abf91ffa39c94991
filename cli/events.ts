import { visible } from '#base/visible.ts';
import type { CallApi, ClientFlags } from './client.ts';
import { printLine } from './print.ts';

interface ShownEvent {
  at: string;
  type: string;
  text: string;
  data?: { doneBytes?: number; totalBytes?: number };
}

interface EventPage {
  items: ShownEvent[];
  cursor: string;
}

/** Prints events, a line each, several where a console printed several, page after page, until `isEnd` says so of a page. */
export async function printEvents<Page extends object>(
  call: CallApi,
  method: `${string}.${string}`,
  { first, later }: { first: object; later: object },
  isEnd: (page: Page) => boolean,
  flags: ClientFlags,
): Promise<void> {
  let input = first;
  for (;;) {
    const page = await call<Page & EventPage>(method, input);
    for (const event of page.items) printEvent(event, flags);
    if (isEnd(page)) return;
    input = { ...later, cursor: page.cursor };
  }
}

function printEvent(event: ShownEvent, { format }: ClientFlags): void {
  if (format === 'json') {
    printLine(JSON.stringify(event));
    return;
  }
  const { doneBytes, totalBytes } = event.data ?? {};
  const share =
    doneBytes === undefined || !totalBytes ? '' : ` ${Math.floor((100 * doneBytes) / totalBytes)} %`;
  const rows = `${event.text}${share}`.split('\n');
  for (const row of rows) printLine(`${event.at}  ${event.type.padEnd(22)}  ${visible(row)}`);
}
