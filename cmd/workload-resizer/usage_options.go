package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/workload-resizer/workload-resizer/reconciler/compare"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/checkpoint"
	"github.com/workload-resizer/workload-resizer/usage/metricsapi"
	"github.com/workload-resizer/workload-resizer/usage/prometheus"
	"github.com/workload-resizer/workload-resizer/usage/push"
)

// The sources of usage.
const (
	usagePush       = "push"
	usageMetrics    = "metrics"
	usagePrometheus = "prometheus"
)

// pushInterval is how often what node agents have reported is counted.
const pushInterval = 5 * time.Second

// usageOptions are the flags of usage.
type usageOptions struct {
	sources  []string
	jobLabel string
	interval time.Duration
	backfill time.Duration
	// The Prometheus.
	address, tenant, selector string
	credentials               prometheus.Credentials
	step                      time.Duration
}

func (o *usageOptions) addTo(flags *pflag.FlagSet) {
	flags.StringSliceVar(&o.sources, "usage-sources", []string{usagePush, usageMetrics}, "sources of usage, the preferred one first: push (node agents), metrics (metrics.k8s.io) and prometheus; an empty list collects no usage")
	flags.StringVar(&o.jobLabel, "usage-job-label", demand.DefaultJobLabel, "key of the label that names the workload of Jobs without an owner; without it, their usage is not collected")
	flags.DurationVar(&o.interval, "usage-interval", time.Minute, "how often metrics.k8s.io is read")
	flags.StringVar(&o.address, "usage-prometheus-url", "", "URL of the Prometheus to read usage from, or of anything with its API")
	flags.StringVar(&o.tenant, "usage-prometheus-tenant", "", "tenant of the Prometheus to read usage from, sent as X-Scope-OrgID")
	flags.StringVar(&o.selector, "usage-prometheus-selector", "", `label matchers that all series must match, as in PromQL, for example cluster="a"`)
	flags.StringVar(&o.credentials.TokenFile, "usage-prometheus-token-file", "", "file with a token for the Prometheus to read usage from; read again when it changes")
	flags.StringVar(&o.credentials.HeadersFile, "usage-prometheus-headers-file", "", "file with headers for the Prometheus to read usage from, for example of a proxy in front of it: one per line, as NAME: VALUE; read again when it changes")
	flags.StringVar(&o.credentials.CAFile, "usage-prometheus-ca-file", "", "PEM file with the certificate authorities of the Prometheus to read usage from (default: those of the system)")
	flags.DurationVar(&o.step, "usage-prometheus-interval", 5*time.Minute, "time between two samples from Prometheus, several times its scrape interval, and how often it is read")
	flags.DurationVar(&o.backfill, "usage-backfill", 8*24*time.Hour, "how much of the past is read from Prometheus at first")
}

func (o *usageOptions) validate(reject func(flag, format string, args ...any)) {
	for i, source := range o.sources {
		switch {
		case !slices.Contains([]string{usagePush, usageMetrics, usagePrometheus}, source):
			reject("usage-sources", "%q is not a source of usage: use push, metrics, prometheus, or an empty list for none", source)
		case slices.Contains(o.sources[:i], source):
			reject("usage-sources", "names %s twice", source)
		}
	}
	if problems := validation.IsQualifiedName(o.jobLabel); len(problems) > 0 {
		reject("usage-job-label", "%q is not a valid label: %s", o.jobLabel, problems[0])
	}
	if o.interval < 10*time.Second || o.interval > 10*time.Minute {
		reject("usage-interval", "must be from 10s to 10m, not %v", o.interval)
	}
	if o.backfill < 0 || o.backfill > 31*24*time.Hour {
		reject("usage-backfill", "must be from 0 to 744h (31 days), not %v", o.backfill)
	}
	if !o.has(usagePrometheus) {
		for flag, value := range map[string]string{"url": o.address, "tenant": o.tenant, "selector": o.selector, "token-file": o.credentials.TokenFile, "headers-file": o.credentials.HeadersFile, "ca-file": o.credentials.CAFile} {
			if value != "" {
				reject("usage-prometheus-"+flag, "has no effect: add prometheus to --usage-sources")
			}
		}
		return
	}
	if o.step < time.Minute || o.step > 10*time.Minute {
		reject("usage-prometheus-interval", "must be from 1m to 10m, not %v", o.step)
		return
	}
	if o.address == "" {
		reject("usage-prometheus-url", "must be set, because --usage-sources has prometheus")
	} else if _, err := prometheus.New(o.config()); err != nil {
		reject("usage-prometheus-url", "%v", err)
	}
}

// has reports whether a source of usage is used.
func (o *usageOptions) has(source string) bool { return slices.Contains(o.sources, source) }

// every returns how often each container is measured. The samples of node agents and Prometheus leave no time out.
func (o *usageOptions) every() time.Duration {
	if o.has(usageMetrics) {
		return o.interval
	}
	return 0
}

func (o *usageOptions) config() prometheus.Config {
	return prometheus.Config{Address: o.address, Tenant: o.tenant, Selector: o.selector, Interval: o.step}
}

// newUsage returns how usage is collected, which is nil without sources, and the source that node agents push
// to, which is nil without the source push. namespaces returns the namespaces that have pods.
func newUsage(o *options, clients *clients, namespaces func() []string) (*demand.Usage, *push.Source, error) {
	if len(o.usage.sources) == 0 {
		return nil, nil, nil
	}
	u := &demand.Usage{JobLabel: o.usage.jobLabel, Comparisons: compare.New(o.usage.every())}
	if o.dryRun {
		u.Comparisons.Read(nil) // Nothing is stored.
	} else {
		u.Keeper = checkpoint.New(checkpoint.Config{
			Client: clients.usage.CoreV1(), Namespace: o.configNamespace, Prefix: o.names().UsagePrefix,
			Labels:       map[string]string{"app.kubernetes.io/name": "workload-resizer"},
			FieldManager: contract.FieldManager, Interval: checkpoint.Interval, Clock: decisionClock, Companion: u.Comparisons,
		})
	}
	var pushed *push.Source
	for _, name := range o.usage.sources {
		source := demand.Source{Interval: pushInterval}
		switch name {
		case usagePush:
			pushed = push.New()
			// By default, there are no node agents, and metrics.k8s.io is read.
			source.Source, source.Optional = pushed, len(o.usage.sources) > 1
		case usageMetrics:
			source = demand.Source{Source: &metricsapi.Source{Client: clients.metrics, Namespaces: namespaces}, Interval: o.usage.interval}
		case usagePrometheus:
			read, err := newPrometheus(&o.usage)
			if err != nil {
				return nil, nil, err
			}
			source = demand.Source{Source: read, Interval: o.usage.step, Backfill: o.usage.backfill}
		}
		u.Sources = append(u.Sources, source)
	}
	return u, pushed, nil
}

// newPrometheus returns a Prometheus as a source.
func newPrometheus(o *usageOptions) (usage.Source, error) {
	source, err := prometheus.New(o.connection())
	if err != nil {
		return nil, fmt.Errorf("prepare to read --usage-prometheus-url: %w", err)
	}
	return source, nil
}

// connection returns how the Prometheus is read, with the credentials.
func (o *usageOptions) connection() prometheus.Config {
	config := o.config()
	config.Credentials = o.credentials
	return config
}
