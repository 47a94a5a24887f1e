// where: points for which an expression is true.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test points for which the expression is true pass
script
    stream|from().measurement('m')|where(lambda: "v" > 1.0)|httpOut('out')
write
    m v=1 0
    m v=2 1
emits where2
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:01Z",2]]}

test functions with a memory keep it per group
script
    stream|from().measurement('m').groupBy('h')|where(lambda: count() % 2 == 0)|httpOut('out')
write
    m,h=a v=1 0
    m,h=b v=2 1
    m,h=a v=3 2
    m,h=b v=4 3
emits where2
    {"columns":["time","v"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:02Z",3]]}
    {"columns":["time","v"],"name":"m","tags":{"h":"b"},"values":[["1970-01-01T00:00:03Z",4]]}

test a point without the field is dropped and counted
script
    stream|from().measurement('m')|where(lambda: "v" > 1.0)|httpOut('out')
write
    m x=1 0
    m v=2 1
emits where2
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:01Z",2]]}
errors where2 1
`);
