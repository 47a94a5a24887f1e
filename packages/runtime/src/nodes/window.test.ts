// window: batches of points by time and by count.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test a window ends with the first point that is past it
script
    stream|from().measurement('m')|window().period(10s).every(10s)|httpOut('out')
write
    m v=1 0
    m v=2 4
    m v=3 9
emits window2
write
    m v=4 10
emits window2
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:00Z",1],["1970-01-01T00:00:04Z",2],["1970-01-01T00:00:09Z",3]]}

test aligned windows end at multiples of every
script
    stream|from().measurement('m')|window().period(10s).every(10s).align()|httpOut('out')
write
    m v=1 7
    m v=2 9
    m v=3 12
    m v=4 20
emits window2
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:07Z",1],["1970-01-01T00:00:09Z",2]]}
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:12Z",3]]}

test a window longer than every holds points more than once
script
    stream|from().measurement('m')|window().period(10s).every(5s).align()|httpOut('out')
write
    m v=1 0
    m v=2 4
    m v=3 6
    m v=4 11
emits window2
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:00Z",1],["1970-01-01T00:00:04Z",2]]}
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:00Z",1],["1970-01-01T00:00:04Z",2],["1970-01-01T00:00:06Z",3]]}

test with fillPeriod nothing is emitted before a whole period has passed
script
    stream|from().measurement('m')|window().period(10s).every(5s).fillPeriod()|httpOut('out')
write
    m v=1 0
    m v=2 6
emits window2
write
    m v=3 11
emits window2
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:00Z",1],["1970-01-01T00:00:06Z",2]]}

test windows by count hold the last points and are emitted every so many
script
    stream|from().measurement('m')|window().periodCount(3).everyCount(2)|httpOut('out')
write
    m v=1 0
    m v=2 1
    m v=3 2
    m v=4 3
emits window2
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:00Z",1],["1970-01-01T00:00:01Z",2]]}
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:01Z",2],["1970-01-01T00:00:02Z",3],["1970-01-01T00:00:03Z",4]]}

test every group has a window of its own
script
    stream|from().measurement('m').groupBy('h')|window().period(10s).every(10s)|count('v')|httpOut('out')
write
    m,h=a v=1 0
    m,h=b v=1 5
    m,h=a v=2 11
emits count3
    {"columns":["time","count"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:10Z",1]]}
write
    m,h=b v=2 16
emits count3
    {"columns":["time","count"],"name":"m","tags":{"h":"b"},"values":[["1970-01-01T00:00:15Z",1]]}

test a barrier ends a window without a point
script
    stream|from().measurement('m')|barrier().period(10s)|window().period(10s).every(10s)|count('v')|httpOut('out')
write
    m v=1 1704067200
    m v=2 1704067204
advance 20s
emits count4
    {"columns":["time","count"],"name":"m","values":[["2024-01-01T00:00:10Z",2]]}
    {"columns":["time","count"],"name":"m","values":[["2024-01-01T00:00:20Z",0]]}
`);
