import type { Dispatcher } from 'undici';
import type { AnswerFacts } from './answer.ts';

export type HttpAnswer = Dispatcher.ResponseData;

/** What decides what is done with an answer. */
export function factsOf(answer: HttpAnswer): AnswerFacts {
  const length = header(answer, 'content-length');
  return {
    status: answer.statusCode,
    ...(length !== undefined && /^\d{1,15}$/.test(length) && { contentLength: Number(length) }),
    ...named('contentRange', header(answer, 'content-range')),
    ...named('etag', header(answer, 'etag')),
    ...named('lastModified', header(answer, 'last-modified')),
  };
}

function named<Name extends string>(name: Name, value: string | undefined): { [key in Name]?: string } {
  return (value === undefined ? {} : { [name]: value }) as { [key in Name]?: string };
}

/** The media type without its parameters. */
export function mediaType(answer: HttpAnswer): { contentType?: string } {
  const contentType = header(answer, 'content-type')?.split(';')[0]?.trim().toLowerCase();
  return contentType === undefined ? {} : { contentType };
}

export function header(answer: HttpAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Ends a body that is not wanted without reading a page of any length. */
export async function drop(answer: HttpAnswer): Promise<void> {
  await answer.body.dump({ limit: 16 * 1024 }).catch(() => {});
}
