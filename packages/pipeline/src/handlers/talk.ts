// talk: posts to Talk.
import { defineHandler } from '../definition/handler-definition.ts';

export const talkHandler = defineHandler({
  kind: 'talk',
  doc: 'Posts to Talk.',
  options: {},
  script: {
    name: 'talk',
    className: 'TalkHandler',
  },
});
