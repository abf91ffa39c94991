import Type from 'typebox';

const optionalText = Type.Optional(Type.String());

/** Something that happened to a node or in a workflow. */
export const Event = Type.Object({
  eventId: Type.String(),
  /** By the clock of who reports it. */
  at: Type.String(),
  type: Type.String(),
  text: Type.String(),
  cause: Type.String(),
  nodeId: optionalText,
  workflowId: optionalText,
  stepId: optionalText,
  data: Type.Optional(Type.Unknown()),
});
