// stateCount: for how many points in a row a condition has been true.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test it counts per group, and is -1 while the condition is false
script
    stream|from().measurement('m').groupBy('h')|stateCount(lambda: "v" > 5.0).as('n')|httpOut('out')
write
    m,h=a v=6 0
    m,h=b v=6 1
    m,h=a v=7 2
    m,h=a v=1 3
    m,h=a v=8 4
emits state_count2
    {"columns":["time","n","v"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:00Z",1,6]]}
    {"columns":["time","n","v"],"name":"m","tags":{"h":"b"},"values":[["1970-01-01T00:00:01Z",1,6]]}
    {"columns":["time","n","v"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:02Z",2,7]]}
    {"columns":["time","n","v"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:03Z",-1,1]]}
    {"columns":["time","n","v"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:04Z",1,8]]}
`);
