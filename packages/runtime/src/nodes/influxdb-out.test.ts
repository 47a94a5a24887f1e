// influxDBOut: writes to a database.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test points are written when the buffer is full, and what is left at the end
script
    stream|from().measurement('m')
        |influxDBOut().database('x').retentionPolicy('y').measurement('z').tag('t', '1').buffer(2)
write
    m v=1 0
writes
write
    m v=2 1
writes
    x.y z,t=1 v=1 0
    x.y z,t=1 v=2 1000000000
write
    m v=3 2
finish
writes
    x.y z,t=1 v=3 2000000000
`);
