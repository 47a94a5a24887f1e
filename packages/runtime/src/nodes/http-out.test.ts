// httpOut: the latest row of each group.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test a newer row of a group takes the place of the older one
script
    stream|from().measurement('m').groupBy('h')|httpOut('out')
write
    m,h=b v=1 0
    m,h=a v=2 1
    m,h=b v=3 2
output out
    {"series":[{"columns":["time","v"],"name":"m","tags":{"h":"b"},"values":[["1970-01-01T00:00:02Z",3]]},{"columns":["time","v"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:01Z",2]]}]}
`);
