package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/lifecycle"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/work"
)

const (
	// The range of time scales. At the maximum, a week takes a minute, and the clock of the work
	// does not overflow while a cluster runs for a week.
	minTimeScale = 0.001
	maxTimeScale = 10_000.0
	// The range of years in which work can start, for which nanoseconds fit into 64 bits.
	firstYear, lastYear = 1970, 2069
)

// workHelp explains how work is declared.
const workHelp = `Containers do the work that the annotation work.testcluster.local/CONTAINER of
their pod declares, in YAML, or that of --work. Without, they use a thousandth of
a core and 16 MiB. They are cores of a node of speed 1.

  cpu: 250m              # cores; or a list of parts, which add up:
  memory:                # bytes, in the same way
  - constant: 64Mi
  - wave: 10Mi           # up and down once in each period, highest at peak
    period: 24h          # counted from midnight UTC
    peak: 14h
  - weekly: 100Mi        # up and down on these days, from and to these times
    days: [Mon, Tue]
    from: 9h
    to: 17h
  - spike: 20Mi          # at this age of the container, for this time; may recur
    at: 10m
    for: 30s
    every: 1h
  - leak: 1Mi            # more of it after each time, up to a limit if any
    every: 1m
    upTo: 50Mi
  - series: [1Mi, 2Mi]   # a recording with this step, again and again
    step: 5m
  - noise: 10            # percentage by which the sum varies, with this step
    step: 1m
  startup:               # work before anything else: so many seconds of a core,
    coreSeconds: 30      # on so many cores at a time.
    cores: 2
  job:                   # work next to cpu, after which the container exits.
    coreSeconds: 600
    cores: 1
    exitCode: 0
  ready:                 # when the container is ready:
    after: 5s            # after the startup and this time,
    share: 80            # while it gets this percentage of the cores it needs,
    lost:                # and not at these ages
    - at: 10m
      for: 1m
      every: 1h

To change the work of a running container, change its annotation. Ages then count
from the change, and the startup is not repeated. An annotation that is not valid
is an error of a container that starts, and an event (InvalidWork) of a pod whose
containers run; they keep their work.

A CPU limit throttles a load, and makes startups and jobs take longer. A container
that needs more memory than its limit is killed. Containers share scarce cores by
weight. The node decides once a second, and a resize counts from then on. It may
miss events that are shorter than a second on a clock that is not scaled.

--time-scale makes all times above faster, such as 2016 for a week in five
minutes. Everything else runs in real time: Kubernetes, restarts with back-off,
pressure averages, Prometheus, and metrics-server, which measures every 10 s.`

// completeWork parses the declarations of work and the time at which it starts.
func completeWork(options *lifecycle.Options, declarations []string, start string) error {
	for _, declaration := range declarations {
		pattern, text, found := strings.Cut(declaration, "=")
		if !found {
			return fmt.Errorf("--work %s: not NAMESPACE/POD/CONTAINER=WORK", declaration)
		}
		if file, isFile := strings.CutPrefix(text, "@"); isFile {
			content, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("--work %s: %w", declaration, err)
			}
			text = string(content)
		}
		rule := work.Rule{Pattern: pattern, Text: text}
		if err := rule.Check(); err != nil {
			return fmt.Errorf("--work %s: %w", declaration, err)
		}
		options.Work = append(options.Work, rule)
	}
	// Written so that NaN is invalid.
	if valid := options.TimeScale >= minTimeScale && options.TimeScale <= maxTimeScale; !valid {
		return fmt.Errorf("--time-scale %g: not between %g and %g", options.TimeScale, minTimeScale, maxTimeScale)
	}
	if start == "" {
		return nil
	}
	var err error
	if options.WorkStart, err = time.Parse(time.RFC3339, start); err != nil {
		return fmt.Errorf("--work-start %s: not a time such as 2026-01-05T00:00:00Z", start)
	}
	if year := options.WorkStart.UTC().Year(); year < firstYear || year > lastYear {
		return fmt.Errorf("--work-start %s: not between the years %d and %d", start, firstYear, lastYear)
	}
	return nil
}
