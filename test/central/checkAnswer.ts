import { Value } from 'typebox/value';
import { ErrorAnswer } from '#central/answers/error.ts';
import { answerSchema } from '#central/answers/index.ts';
import { errorStatus } from '#contract/errors.ts';

/** Holds an answer of the API against the schema that the API publishes for it. @throws Error that names the first fault */
export function checkAnswer(method: string, status: number, body: unknown): void {
  const [group = '', name = ''] = method.split('.');
  const schema = status === 200 ? answerSchema(group, name) : ErrorAnswer;
  const [fault] = Value.Errors(schema, body);
  if (fault !== undefined)
    throw new Error(
      `${method} answered what its schema does not say: ${fault.instancePath} ${fault.message}`,
    );
  if (status === 200) return;
  const { code } = (body as { error: { code: keyof typeof errorStatus } }).error;
  if (errorStatus[code] !== status) throw new Error(`${method} answered ${code} with status ${status}`);
}
