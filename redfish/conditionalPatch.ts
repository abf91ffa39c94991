import { type Answer, mustSucceed } from './answers.ts';
import type { Resource } from './client.ts';
import { ifMatchForms, ifMatchHeader } from './entityTag.ts';
import type { JsonObject } from './json.ts';
import type { BmcMemory } from './memory.ts';
import type { Exchange } from './transport.ts';

export interface PatchWays {
  send(one: Exchange): Promise<Answer>;
  /** Reads the resource anew, with the tag that it has by then. */
  read(path: string): Promise<Resource>;
  memory: Pick<BmcMemory, 'ifMatch'>;
}

/**
 * Changes a resource under the tag that it was read with (RFC 9110, 13.1.1). Where the BMC asks for another If-Match (412, 428) the resource is
 * read and sent again with the next form, at most four times in all; the form that worked is remembered.
 * @throws BmcRefusal, and what `send` and `read` fail with
 */
export async function conditionalPatch(
  resource: Resource,
  body: JsonObject,
  { send, read, memory }: PatchWays,
): Promise<Answer> {
  let { path, tag } = resource;
  let answer: Answer | undefined;
  const forms = ifMatchForms(tag, memory.ifMatch);
  for (const form of forms) {
    answer = await send({ method: 'PATCH', path, body, headers: ifMatchHeader(form, tag) });
    if (answer.status !== 412 && answer.status !== 428) {
      memory.ifMatch = form;
      break;
    }
    if (form !== forms.at(-1)) ({ path, tag } = await read(path));
  }
  return mustSucceed('PATCH', path, answer as Answer);
}
