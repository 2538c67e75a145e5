// SPDX-License-Identifier: GPL-3.0-or-later
#include "tracer/application.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct options options;
static struct arena arena = ARENA_INIT;

static void begin(const char *text, const char *command) {
    struct error error = ERROR_INIT;
    assert_true(options_parse(text, &arena, &options, &error));
    application_begin(&options, command);
}

static void test_what_is_not_well_known_is_the_applications(void **state) {
    begin(NULL, "/srv/shop.jar --port 80");
    assert_true(application_has("com.acme.shop.Offers"));
    assert_true(application_has("Main"));
    assert_false(application_has("org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor"));
    assert_false(application_has("org.h2.engine.Session"));
    assert_false(application_has("org.springframework.boot.loader.launch.JarLauncher"));
}

static void test_copies_of_libraries_are_libraries(void **state) {
    begin(NULL, "wiremock.Run");
    assert_false(application_has("wiremock.org.eclipse.jetty.server.Server"));
    assert_true(application_has("wiremock.Run"));
    assert_true(application_has("com.acme.scala.Shop")); // one part says too little
}

static void test_what_main_belongs_to_is_the_applications(void **state) {
    begin(NULL, "org.apache.lucene.demo.IndexFiles -docs x");
    assert_true(application_has("org.apache.lucene.index.IndexWriter"));
    assert_false(application_has("org.apache.commons.lang3.StringUtils"));
    begin(NULL, "kafka.Kafka server.properties");
    assert_true(application_has("kafka.network.Processor"));
    assert_true(application_has("org.apache.kafka.server.KafkaRequestHandler"));
    begin(NULL, "shop.module/org.h2.tools.Server");
    assert_true(application_has("org.h2.engine.Session"));
}

static void test_a_launchers_library_is_none_of_the_application(void **state) {
    begin(NULL, "org.apache.catalina.startup.Bootstrap start");
    assert_false(application_has("org.apache.catalina.startup.Catalina"));
    assert_true(application_has("examples.Chat"));
    begin(NULL, "org.springframework.boot.loader.launch.JarLauncher");
    assert_false(application_has("org.springframework.boot.SpringApplication"));
    begin(NULL, "org.springframework.samples.petclinic.PetClinicApplication");
    assert_true(application_has("org.springframework.samples.petclinic.owner.OwnerController"));
    assert_false(application_has("org.springframework.web.servlet.DispatcherServlet"));
}

static void test_globs_decide_alone(void **state) {
    begin("app=org.h2.*,app=com.acme.shop.*", "com.acme.web.Main");
    assert_true(application_has("org.h2.engine.Session"));
    assert_true(application_has("com.acme.shop.Offers"));
    assert_false(application_has("com.acme.web.Main"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_not_well_known_is_the_applications),
        cmocka_unit_test(test_copies_of_libraries_are_libraries),
        cmocka_unit_test(test_what_main_belongs_to_is_the_applications),
        cmocka_unit_test(test_a_launchers_library_is_none_of_the_application),
        cmocka_unit_test(test_globs_decide_alone),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_destroy(&arena);
    return failed;
}
