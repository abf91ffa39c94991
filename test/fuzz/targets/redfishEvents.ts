import assert from 'node:assert/strict';
import { contextsOf, isNews } from '#redfish/events/news.ts';
import { longestEvent, SseReader } from '#redfish/events/sse.ts';
import { parseBody } from '#redfish/json.ts';
import { text } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const event =
  '{"@odata.type":"#Event.v1_7_0.Event","Context":"t","Events":[{"MessageId":"X.1.0.Y","Context":"t"}]}';

/** A BMC's stream of events, and what it posts: the same events whatever the pieces are that they come in. */
export const target: FuzzTarget = {
  seeds: [
    `: hello\n\nid: 1\nevent: Event\ndata: ${event}\n\n: heartbeat\n\n`,
    `id: 2\r\ndata: ${event.slice(0, 40)}\r\ndata: ${event.slice(40)}\r\n\r\n`,
    'data\rdata:\r\rid\u0000: x\n\n\uFEFFdata: a',
    event,
    '{"Events":{"MessageId":7},"Context":[]}',
    '{"Events":[{"OriginOfCondition":{"@odata.id":"/redfish/v1/SessionService/Sessions/1"}}]}',
  ].map(text),
  longest: 1 << 19,
  run(input) {
    const said = new TextDecoder().decode(input);
    const whole = new SseReader();
    const events = whole.feed(said);
    const pieces = new SseReader();
    const at = said.length >> 1;
    const inPieces = [...pieces.feed(said.slice(0, at)), ...pieces.feed(said.slice(at))];
    for (const { data } of events) {
      assert(data.length <= 2 * longestEvent);
      isNews(parseBody(data));
    }
    if (said.length < longestEvent) assert.deepEqual(inPieces, events);
    const posted = parseBody(said);
    isNews(posted);
    contextsOf(posted);
  },
};
