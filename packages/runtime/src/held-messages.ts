// Messages that wait in a node. Their points count as memory of the task, and their group is not
// released before they leave; otherwise a later group could get its index and receive messages of
// the first.
import type { Barrier, Point } from './data/point.ts';
import { Batch } from './data/point.ts';
import type { NodeContext } from './node.ts';

type Holder = Pick<NodeContext, 'hold' | 'release'>;

/** Returns false, and holds nothing, when the task holds too many points. */
export function holdMessage(holder: Holder, message: Point | Batch): boolean {
  if (message instanceof Batch) {
    const { points } = message;
    for (let i = 0; i < points.length; i++) {
      if (holder.hold(points[i] as Point)) continue;
      while (i > 0) holder.release(points[--i] as Point);
      return false;
    }
  } else if (!holder.hold(message)) return false;
  message.group.holderCount++;
  return true;
}

/** The opposite of `holdMessage`. */
export function releaseMessage(holder: Holder, message: Point | Batch): void {
  message.group.holderCount--;
  if (message instanceof Batch) for (const point of message.points) holder.release(point);
  else holder.release(message);
}

/** Barriers take no memory; their group stays too. */
export function holdBarrier({ group }: Barrier): void {
  group.holderCount++;
}

/** The opposite of `holdBarrier`. */
export function releaseBarrier({ group }: Barrier): void {
  group.holderCount--;
}
