// SPDX-License-Identifier: Apache-2.0
#include "tracer/application.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 256 };

static const struct options *options;
static char main_package[NAME_BYTES]; // "com.acme."; "": main's class has none, or is unknown

// Each ends with its dot. Of those of one part no relocated copies are looked for: the part says too little.
static const char *const libraries[] = {
    "akka.",
    "brave.",
    "ch.qos.logback.",
    "co.elastic.",
    "com.codahale.metrics.",
    "com.datastax.",
    "com.fasterxml.jackson.",
    "com.github.benmanes.caffeine.",
    "com.google.api.",
    "com.google.common.",
    "com.google.gson.",
    "com.google.inject.",
    "com.google.protobuf.",
    "com.intellij.rt.",
    "com.linecorp.armeria.",
    "com.lmax.disruptor.",
    "com.microsoft.sqlserver.",
    "com.mongodb.",
    "com.mysql.",
    "com.netflix.",
    "com.rabbitmq.",
    "com.sun.",
    "com.typesafe.",
    "com.zaxxer.hikari.",
    "feign.",
    "groovy.lang.",
    "io.dropwizard.",
    "io.github.resilience4j.",
    "io.grpc.",
    "io.helidon.",
    "io.jsonwebtoken.",
    "io.lettuce.",
    "io.micrometer.",
    "io.micronaut.",
    "io.netty.",
    "io.opentelemetry.",
    "io.prometheus.",
    "io.quarkus.",
    "io.r2dbc.",
    "io.reactivex.",
    "io.smallrye.",
    "io.undertow.",
    "io.vertx.",
    "jakarta.",
    "javax.",
    "junit.framework.",
    "kotlin.",
    "kotlinx.",
    "net.bytebuddy.",
    "net.sf.cglib.",
    "net.sf.ehcache.",
    "okhttp3.",
    "okio.",
    "oracle.jdbc.",
    "org.aopalliance.",
    "org.apache.activemq.",
    "org.apache.camel.",
    "org.apache.catalina.",
    "org.apache.commons.",
    "org.apache.coyote.",
    "org.apache.curator.",
    "org.apache.cxf.",
    "org.apache.el.",
    "org.apache.flink.",
    "org.apache.hadoop.",
    "org.apache.hc.",
    "org.apache.http.",
    "org.apache.ignite.",
    "org.apache.jasper.",
    "org.apache.juli.",
    "org.apache.kafka.",
    "org.apache.log4j.",
    "org.apache.logging.",
    "org.apache.lucene.",
    "org.apache.maven.",
    "org.apache.naming.",
    "org.apache.pekko.",
    "org.apache.pulsar.",
    "org.apache.spark.",
    "org.apache.tomcat.",
    "org.apache.zookeeper.",
    "org.aspectj.",
    "org.codehaus.groovy.",
    "org.eclipse.jetty.",
    "org.eclipse.jgit.",
    "org.ehcache.",
    "org.elasticsearch.client.",
    "org.flywaydb.",
    "org.glassfish.",
    "org.gradle.",
    "org.h2.",
    "org.hibernate.",
    "org.hsqldb.",
    "org.infinispan.",
    "org.jboss.",
    "org.jctools.",
    "org.jooq.",
    "org.junit.",
    "org.mariadb.jdbc.",
    "org.mockito.",
    "org.mybatis.",
    "org.openjdk.jmh.",
    "org.postgresql.",
    "org.quartz.",
    "org.reactivestreams.",
    "org.redisson.",
    "org.slf4j.",
    "org.springframework.",
    "org.testng.",
    "org.thymeleaf.",
    "org.wildfly.",
    "org.xnio.",
    "org.yaml.snakeyaml.",
    "reactor.",
    "redis.clients.",
    "retrofit2.",
    "rx.",
    "scala.",
    "shapeless.",
    "springfox.",
    "zio.",
};
enum { LIBRARIES = sizeof libraries / sizeof *libraries };

// What starts programs of others.
static const char *const launchers[] = {
    "com.intellij.rt.",
    "org.apache.catalina.startup.",
    "org.apache.maven.",
    "org.apache.spark.deploy.",
    "org.codehaus.",
    "org.eclipse.jetty.runner.",
    "org.eclipse.jetty.start.",
    "org.gradle.",
    "org.junit.",
    "org.openjdk.jmh.",
    "org.springframework.boot.",
    "org.testng.",
    "io.quarkus.runner.",
    "scala.tools.",
};

static bool begins(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static const char *library_of(const char *dotted) {
    for (size_t i = 0; i < LIBRARIES; i++) {
        if (begins(dotted, libraries[i])) return libraries[i];
    }
    return NULL;
}

static bool has_several_parts(const char *prefix) {
    return strchr(prefix, '.')[1] != '\0';
}

static bool is_relocated(const char *dotted) {
    for (const char *at = strchr(dotted, '.'); at; at = strchr(at + 1, '.')) {
        const char *library = library_of(at + 1);
        if (library && has_several_parts(library)) return true;
    }
    return false;
}

// Below these, many programs' packages begin: the part that follows says whose one is.
static bool is_shared(const char *dotted) {
    static const char *const hosts[] = {"com.github.", "com.google.",   "io.github.",   "net.sourceforge.",
                                        "org.apache.", "org.codehaus.", "org.eclipse.", "org.springframework."};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        if (begins(dotted, hosts[i])) return true;
    }
    return false;
}

// Of com.acme.shop.Main: "com.acme.".
static void know_main(const char *class, size_t length) {
    char dotted[NAME_BYTES];
    if (length >= sizeof dotted) return;
    snprintf(dotted, sizeof dotted, "%.*s", (int)length, class);
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if (begins(dotted, launchers[i])) return;
    }
    size_t kept = 0;
    for (int parts = is_shared(dotted) ? 3 : 2; parts > 0; parts--) {
        const char *dot = strchr(dotted + kept, '.');
        if (!dot) break;
        kept = (size_t)(dot - dotted) + 1;
    }
    snprintf(main_package, sizeof main_package, "%.*s", (int)kept, dotted);
}

void application_begin(const struct options *given, const char *command) {
    options = given;
    main_package[0] = '\0';
    if (!command) return;
    const size_t length = strcspn(command, " ");
    if (memchr(command, '/', length)) { // a module's class follows its name; a file of a jar ends otherwise
        const char *class = (const char *)memrchr(command, '/', length) + 1;
        const size_t left = length - (size_t)(class - command);
        if (left < 4 || memcmp(class + left - 4, ".jar", 4) != 0) know_main(class, left);
        return;
    }
    if (length < 4 || memcmp(command + length - 4, ".jar", 4) != 0) know_main(command, length);
}

// A library that is known by the one part that is main's package is main's: kafka.Kafka starts org.apache.kafka.
static bool is_of_main(const char *dotted, const char *library) {
    if (!*main_package) return false;
    if (begins(dotted, main_package)) return true;
    if (!library || has_several_parts(main_package)) return false;
    const size_t part = strlen(main_package), whole = strlen(library);
    return whole > part && library[whole - part - 1] == '.' && strcmp(library + whole - part, main_package) == 0;
}

bool application_has(const char *dotted) {
    for (const struct class_glob *glob = options->applications; glob; glob = glob->next) {
        if (glob_match(glob->class_name, dotted)) return true;
    }
    if (options->applications || options_is_library(options, dotted) || is_relocated(dotted)) return false;
    const char *library = library_of(dotted);
    return !library || is_of_main(dotted, library);
}
