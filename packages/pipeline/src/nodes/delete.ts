// delete: removes fields and tags.
import { parameter } from '../evaluate/parameter.ts';
import { callProperty, defineNode } from '../node-definition.ts';

export type DeleteOptions = {
  readonly fields: readonly string[];
  readonly tags: readonly string[];
};

export const deleteNode = defineNode<DeleteOptions>({
  type: 'delete',
  label: 'delete',
  className: 'DeleteNode',
  category: 'transformation',
  summary: 'removes fields and tags',
  wants: 'any',
  provides: 'same',
  parameters: [],
  create: () => ({ fields: [], tags: [] }),
  properties: [
    callProperty('field', [parameter('name', 'string')], 'removes a field', (options, values) => ({
      ...options,
      fields: [...options.fields, values.string(0)],
    })),
    callProperty('tag', [parameter('name', 'string')], 'removes a tag', (options, values) => ({
      ...options,
      tags: [...options.tags, values.string(0)],
    })),
  ],
});
