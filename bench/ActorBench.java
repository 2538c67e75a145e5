// SPDX-License-Identifier: GPL-3.0-or-later
import akka.actor.AbstractActor;
import akka.actor.ActorRef;
import akka.actor.ActorSystem;
import akka.actor.Props;
import java.util.concurrent.CountDownLatch;

/**
 * Runs `Volley MESSAGES`, or a program of Savina's by its name and sizes, and leaves at once: what some agents start would
 * keep the JVM up. Volley: two actors throw each other a ball, one message at a time, and send none to themselves.
 */
public final class ActorBench {
    private enum Ball { BALL }

    private static final CountDownLatch END = new CountDownLatch(1);

    private ActorBench() {
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("Volley")) {
            volley(Integer.parseInt(args[1]));
        } else {
            Savina.main(args);
        }
        System.exit(0);
    }

    private static void volley(int messages) throws Exception {
        ActorSystem system = Systems.create("savina");
        ActorRef one = system.actorOf(Props.create(Player.class, () -> new Player(messages)));
        ActorRef other = system.actorOf(Props.create(Player.class, () -> new Player(messages)));
        one.tell(Ball.BALL, other);
        END.await();
        system.terminate();
        system.getWhenTerminated().toCompletableFuture().get();
        System.out.printf("{\"program\": \"Volley\", \"received\": %d}%n", Player.received);
    }

    private static final class Player extends AbstractActor {
        static int received; // of both: only who has the ball touches it

        private final int messages;

        Player(int messages) {
            this.messages = messages;
        }

        @Override
        public Receive createReceive() {
            return receiveBuilder().match(Ball.class, ball -> {
                received++;
                if (received < messages) {
                    getSender().tell(ball, getSelf());
                } else {
                    END.countDown();
                }
            }).build();
        }
    }
}
