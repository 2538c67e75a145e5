// SPDX-License-Identifier: GPL-3.0-or-later
// What AgeQuery was when tests/golden/traces/before.msgpack was recorded, as far as its places go.
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
//
        return new Person(YEAR - 1 - (int) Math.floorMod(row, 90L));
    }

    private Future<Person> submitQuery(int id) {
        return pool.submit(() -> queryDatabase(id));
    }

    private int queryAge(int id) throws InterruptedException, ExecutionException {
        Person person = inlined ? queryDatabase(id) : submitQuery(id).get();
        return YEAR - person.birthYear;
//
//
//
//
//
//
//
//
//
//
//
//

    private int serve() throws InterruptedException, ExecutionException {
        List<Future<Integer>> sums = new ArrayList<>();
        for (int request = 0; request < REQUESTS; request++) {
            int number = request;
            sums.add(pool.submit(() -> sumAges(number)));
        }
        int total = 0;
        for (Future<Integer> sum : sums) {
            total += sum.get();
        }
        Simulated.shutDown(pool);
        return total;
    }

//
