// from: selects points by database, policy, measurement and condition.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test points of the measurement pass, in groups
script
    stream|from().measurement('m').groupBy('h')|httpOut('out')
write
    m,h=a v=1 0
    n,h=a v=2 1
emits from1
    {"columns":["time","v"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:00Z",1]]}

test times are cut to a multiple of the given one
script
    stream|from().measurement('m').truncate(10s)|httpOut('out')
write
    m v=1 17
emits from1
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:10Z",1]]}

test functions with a memory in the condition count all points of the measurement
script
    stream|from().measurement('m').where(lambda: count() % 2 == 0).groupBy('h')|httpOut('out')
write
    m,h=a v=1 0
    m,h=b v=2 1
    m,h=a v=3 2
    m,h=a v=4 3
emits from1
    {"columns":["time","v"],"name":"m","tags":{"h":"b"},"values":[["1970-01-01T00:00:01Z",2]]}
    {"columns":["time","v"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:03Z",4]]}
`);
