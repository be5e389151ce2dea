/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A module that begins ranges of three interfaces and is unloaded before they end: its names and
 * its part of ITT are then no longer in memory.
 */
#include "plugin.h"

static struct itt_domain plugin_domain = {1, "domain of a plugin", NULL, 0, NULL, NULL};
static struct itt_string plugin_string = {"task of a plugin", NULL, 0, NULL, NULL};

__attribute__((visibility("default"))) void plugin_begin(struct plugin_calls *calls) {
    static const struct itt_id none = {0, 0, 0};
    static struct itt_api list[] = {{0}};
    static struct itt_global global;
    global.api_list = list;
    global.domains = &plugin_domain;
    global.strings = &plugin_string;
    calls->itt_init(&global, -1);
    calls->domain = calls->domain_create("domain of a plugin");
    calls->task_begin(&plugin_domain, none, none, &plugin_string);
    calls->roctx_push("range of a plugin");
    calls->kokkos_push("region of a plugin");
    calls->started = calls->roctx_start("started by a plugin");
}
