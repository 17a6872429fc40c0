// Telegraf's output for the v2 line with two of its inputs, unmodified: a build of the agent without its other plugins.
// Run by telegraf.long.test.ts as: telegraf CONFIGURATION. It collects and writes once.
package main

import (
	"context"
	"os"

	"github.com/influxdata/telegraf/agent"
	"github.com/influxdata/telegraf/config"
	_ "github.com/influxdata/telegraf/plugins/inputs/cpu"
	_ "github.com/influxdata/telegraf/plugins/inputs/mem"
	_ "github.com/influxdata/telegraf/plugins/outputs/influxdb_v2"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	settings := config.NewConfig()
	check(settings.LoadConfig(os.Args[1]))
	check(agent.NewAgent(settings).Once(context.Background(), 0))
}
