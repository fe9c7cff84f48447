package pages

import (
	"context"
	"errors"
	"hash/maphash"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/plans"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// mostPlanned is how many pods that would be resized, or have other plans with assumptions, are listed.
const mostPlanned = 500

const (
	// mostKept is how many bytes the outcomes of plans may take, several times those of 150,000 pods.
	mostKept = 64 << 20
	// perOutcome is how many bytes each takes next to what it says.
	perOutcome = 48
)

// planned is what the page of plans reads, on request: it looks at many pods.
type planned struct {
	// resizes are the plans of pods that would be resized. With assumptions, there are none: diffs are those that differ.
	resizes []*workloadresizerv1.Plan
	diffs   []plans.Diff
	// differing is how many differ.
	differing int
	// summary counts all plans; nil if none were asked for. without counts those without the assumptions; nil if there are none.
	summary, without *workloadresizerv1.PlanSummary
	// with is what is left to compare them with; nil if nothing is.
	with *comparison
	// at is when they were planned.
	at time.Time
	// problem is what is wrong with the address, or refused; empty if nothing is.
	problem string
}

var plansPage = page{
	pattern: "/plans", nav: "Plans", template: "plans", once: true,
	title: func(*http.Request) string { return "Plans" },
	key:   func(r *http.Request) string { return r.URL.Query().Encode() },
	read:  readPlans,
	then:  func(ctx context.Context, c *client.Client, value any) error { return value.(*planned).compare(ctx, c) },
	view: func(o *print.Output, value any, r *http.Request) any {
		return plansView(o, value.(*planned), r.URL.Query())
	},
	refused: func(problem string) any { return &planned{problem: problem} },
}

// assumed returns the assumptions in an address.
func assumed(values url.Values) plans.WhatIf {
	return plans.WhatIf{
		Ratios: strings.Fields(values.Get("ratios")), NodeType: values.Get("type"), Mode: plans.DemandMode(values.Get("mode")), Production: plans.ProductionMode(values.Get("production")), Resumed: values.Get("resumed") != "",
		CPU:    workloadresizerv1.QuantityRange{Min: values.Get("mincpu"), Max: values.Get("maxcpu")},
		Memory: workloadresizerv1.QuantityRange{Min: values.Get("minmemory"), Max: values.Get("maxmemory")},
	}
}

// fields are the fields of the page, by the flags of the command that they stand for.
var fields = map[string]string{
	"what-if-ratio": "Ratios", "what-if-mode": "Mode of usage", "what-if-production-mode": "Mode of production",
	"what-if-min-cpu": "Minimum CPU per container", "what-if-max-cpu": "Maximum CPU per container",
	"what-if-min-memory": "Minimum memory per container", "what-if-max-memory": "Maximum memory per container",
}

// wrongIn says what is wrong with which field.
func wrongIn(err error) string {
	if of, ok := errors.AsType[*plans.InvalidAssumption](err); ok && fields[of.Flag] != "" {
		return fields[of.Flag] + ": " + of.Problem
	}
	return err.Error()
}

func readPlans(ctx context.Context, c *client.Client, r *http.Request) (any, error) {
	values := r.URL.Query()
	if values.Get("plan") == "" {
		return &planned{}, nil
	}
	what := assumed(values)
	message, err := what.Message()
	if err != nil {
		return &planned{problem: wrongIn(err)}, nil
	}
	if message == nil {
		return plan(ctx, c, values.Get("namespace"))
	}
	return planToCompare(ctx, c, values.Get("namespace"), message)
}

// comparison are plans without assumptions, with which those with them are compared.
type comparison struct {
	namespace string
	what      *workloadresizerv1.WhatIf
	outcomes  map[uint64]plans.Outcome
	seed      maphash.Seed
}

// plan plans all pods in a namespace, or in all of them, without assumptions.
func plan(ctx context.Context, c *client.Client, namespace string) (*planned, error) {
	all, stream := &planned{at: time.Now()}, c.PreviewPlans(ctx, namespace)
	for plan, err := range stream.All() {
		if err != nil {
			return nil, err
		}
		if plan.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE && len(all.resizes) < mostPlanned {
			all.resizes = append(all.resizes, plan)
		}
	}
	all.summary = stream.Summary()
	return all, nil
}

// planToCompare plans like plan what is compared with plans with assumptions.
func planToCompare(ctx context.Context, c *client.Client, namespace string, what *workloadresizerv1.WhatIf) (*planned, error) {
	with, kept := &comparison{namespace, what, map[uint64]plans.Outcome{}, maphash.MakeSeed()}, 0
	stream := c.PreviewPlans(ctx, namespace)
	for plan, err := range stream.All() {
		if err != nil {
			return nil, err
		}
		outcome := plans.OutcomeOf(plan)
		if kept += len(outcome) + perOutcome; kept > mostKept {
			return nil, status.Error(codes.ResourceExhausted, "there are more plans than this program keeps: choose a namespace")
		}
		with.outcomes[podKey(with.seed, plan)] = outcome
	}
	return &planned{at: time.Now(), without: stream.Summary(), with: with}, nil
}

// compare plans the same pods with the assumptions, if there are any.
func (p *planned) compare(ctx context.Context, c *client.Client) error {
	if p.with == nil {
		return nil
	}
	stream := c.PreviewPlans(ctx, p.with.namespace, client.Assuming(p.with.what))
	for plan, err := range stream.All() {
		if err != nil {
			return err
		}
		// Of a pod that has come meanwhile, nothing is known without the assumptions.
		if o, ok := p.with.outcomes[podKey(p.with.seed, plan)]; ok && o != plans.OutcomeOf(plan) {
			if p.differing++; len(p.diffs) < mostPlanned {
				p.diffs = append(p.diffs, plans.Diff{Without: o, With: plan})
			}
		}
	}
	p.summary, p.with = stream.Summary(), nil
	return nil
}

// podKey identifies the pod of a plan in few bytes. The seed is random, so that nobody can choose names with the same key.
func podKey(seed maphash.Seed, plan *workloadresizerv1.Plan) uint64 {
	return maphash.String(seed, plan.GetNamespace()+"/"+plan.GetPod()+"/"+plan.GetUid())
}

// choices returns words to choose from.
func choices(of []string, chosen string) (all []choice) {
	for _, word := range of {
		all = append(all, choice{Name: word, Value: word, Chosen: word == chosen})
	}
	return all
}

func plansView(o *print.Output, all *planned, values url.Values) any {
	what := assumed(values)
	command := append(print.Command{"resizectl", "plan"}, what.Command()...)
	if namespace := values.Get("namespace"); namespace == "" {
		command = append(command, "-A")
	} else {
		command = append(command, "-n", namespace)
	}
	v := struct {
		Values url.Values
		// Modes are the modes of usage, and ProductionModes those of ratios from production.
		Modes, ProductionModes []choice

		Problem string
		Planned string
		Totals  []string
		// Without are the totals without the assumptions; none if there are none.
		Without  []string
		Table    table
		More     bool
		Most     int
		Commands []toCopy
	}{Values: values, Problem: all.problem, Most: mostPlanned}
	v.Modes, v.ProductionModes = choices(plans.Modes, values.Get("mode")), choices(plans.ProductionModes, values.Get("production"))
	if all.summary == nil {
		return v
	}
	v.Planned = all.at.UTC().Format(time.RFC3339)
	v.Totals = plans.Totals(o.Painter(), all.summary)
	v.Commands = actions(o, slices.Clip(command))
	if all.without != nil {
		v.Without = plans.Totals(o.Painter(), all.without)
		v.Table, v.More = podTable(plans.DiffTable(all.diffs...)), all.differing > len(all.diffs)
	} else {
		v.Table, v.More = planTable(all.resizes), all.summary.GetResize() > int64(len(all.resizes))
	}
	return v
}
