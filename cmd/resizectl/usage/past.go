package usage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	byDay  by = "day"
	byHour by = "hour"
)

// past is the time of savings over time.
type past struct {
	sinceText, untilText string
	since, until         *timestamppb.Timestamp
}

func (p *past) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.sinceText, "since", "", "show what was saved since this time: "+command.TimeForm)
	cmd.Flags().StringVar(&p.untilText, "until", "", "show what was saved before this time: "+command.TimeForm)
}

// complete parses the flags, given what rows are about.
func (p *past) complete(cmd *cobra.Command, now time.Time, by by, of *selection, format print.Format) (err error) {
	for name, omitted := range map[string]string{"since": "for what is saved now", "until": "for all until now"} {
		if err := command.CheckFlag(cmd, name, omitted); err != nil {
			return err
		}
	}
	if p.since, p.until, err = command.ParseTimes(now, p.sinceText, p.untilText); err != nil {
		return command.UsageErrorf(cmd, "--%w", err)
	}
	switch {
	case p.since == nil && p.until != nil:
		return command.UsageErrorf(cmd, "--until needs --since, the time at which to begin")
	case p.since == nil && (by == byDay || by == byHour):
		return command.UsageErrorf(cmd, "--by %s needs --since, the time at which to begin", by)
	case p.since != nil && of.labels != "":
		return command.UsageErrorf(cmd, "--selector cannot be combined with --since: what was saved is not known by label")
	case format == print.FormatName && (by == byDay || by == byHour):
		return command.UsageErrorf(cmd, "-o name cannot be combined with --by %s: days and hours have no names", by)
	case by == byHour && of.named():
		return command.UsageErrorf(cmd, "--by hour cannot be combined with a workload, whose savings are known by day: use --by day")
	case by == byNamespace && p.since != nil && of.named():
		return command.UsageErrorf(cmd, "--by namespace cannot be combined with a workload and --since: use --by workload or day")
	}
	return nil
}

// request returns the request for what rows are about.
func (p *past) request(of *selection, by by) *workloadresizerv1.ListSavingsRequest {
	selected := of.request()
	r := &workloadresizerv1.ListSavingsRequest{Namespace: selected.GetNamespace(), Workload: selected.GetWorkload(), SinceTime: p.since, UntilTime: p.until}
	switch by {
	case byDay:
		r.Period = workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_DAY
	case byHour:
		r.Period = workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_HOUR
	}
	switch {
	case by == byWorkload || selected.GetWorkload() != nil:
		r.Group = workloadresizerv1.SavingsGroup_SAVINGS_GROUP_WORKLOAD
	case by == byNamespace:
		r.Group = workloadresizerv1.SavingsGroup_SAVINGS_GROUP_NAMESPACE
	default:
		r.Group = workloadresizerv1.SavingsGroup_SAVINGS_GROUP_TOTAL
	}
	return r
}

// total returns the request for the total of rows, which are about whole days or hours.
func (p *past) total(of *selection, rows []*workloadresizerv1.Savings) *workloadresizerv1.ListSavingsRequest {
	r := p.request(of, "")
	for _, row := range rows {
		if row.GetSinceTime().AsTime().Before(r.GetSinceTime().AsTime()) {
			r.SinceTime = row.GetSinceTime()
		}
		if r.UntilTime != nil && row.GetUntilTime().AsTime().After(r.GetUntilTime().AsTime()) {
			r.UntilTime = row.GetUntilTime()
		}
	}
	return r
}

// showPast shows what was saved over time.
func (o *savingsOptions) showPast(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		if err := o.resolve(ctx, c); err != nil {
			return err
		}
		resp, err := c.ListSavings(ctx, o.past.request(&o.selection, o.by))
		if err != nil {
			return err
		}
		all := resp.GetSavings()
		if err := print.Sort(o.SortBy, all); err != nil {
			return err
		}
		var total []*workloadresizerv1.Savings
		if len(all) > 1 && !o.Format.IsListing() || len(all) > 0 && o.Format.IsDocument() {
			sum, err := c.ListSavings(ctx, o.total(&o.selection, all))
			if err != nil {
				return err
			}
			total = sum.GetSavings()
		}
		switch {
		case o.Format.IsDocument():
			fields := []print.Field{{Name: "savings", Value: print.List(all)}, {Name: "currency", Value: resp.GetCurrency()}}
			for _, of := range total {
				fields = append(fields, print.Field{Name: "total", Value: of})
			}
			return o.Fields(fields...)
		case o.Format.IsListing():
			return print.Listing(&o.Output, pastName, all...)
		}
		rows := make([]*pastRow, 0, len(all)+1)
		for _, of := range all {
			rows = append(rows, &pastRow{of, HoursOf(of), false})
		}
		for _, of := range total {
			rows = append(rows, &pastRow{of, HoursOf(of), true})
		}
		if err := o.Table(objects.Table(o.pastColumns(resp.GetCurrency()), rows...)); err != nil {
			return err
		}
		return print.Texts(o.ErrOut, remark(o.by, all))
	})
}

// remark says what time the rows are about, or that nothing is known of it.
func remark(by by, all []*workloadresizerv1.Savings) string {
	counted := slices.IndexFunc(all, func(of *workloadresizerv1.Savings) bool { return of.GetKnownDuration().AsDuration() > 0 })
	if counted < 0 {
		return "nothing was counted in that time; the leader counts every minute, and keeps 90 days"
	}
	whole := "hours"
	if all[0].GetWorkload() != nil || by == byDay {
		whole = "days"
	}
	from, until := all[0].GetSinceTime().AsTime(), all[0].GetUntilTime().AsTime()
	for _, of := range all {
		from = slices.MinFunc([]time.Time{from, of.GetSinceTime().AsTime()}, time.Time.Compare)
		until = slices.MaxFunc([]time.Time{until, of.GetUntilTime().AsTime()}, time.Time.Compare)
	}
	const layout = "2006-01-02T15:04Z"
	return fmt.Sprintf("from %s to %s, in whole %s", from.Format(layout), until.Format(layout), whole)
}

// pastName is what -o name prints.
func pastName(of *workloadresizerv1.Savings) string {
	if of.GetWorkload() != nil {
		return print.WorkloadName(of.GetWorkload())
	}
	return "namespace/" + print.OneLine(of.GetNamespace())
}

// pastRow is a row about some time. The last one may be about everything.
type pastRow struct {
	*workloadresizerv1.Savings
	hours Hours
	total bool
}

// counted is for how long the amounts are known.
func (r *pastRow) counted() time.Duration { return r.GetKnownDuration().AsDuration() }

// Hours are savings over time, times the hours: core-hours, GiB-hours and money.
type Hours struct {
	AuthoredCPU, RequestedCPU, UsedCPU, MeasuredCPU, SavedCPU                float64
	AuthoredMemory, RequestedMemory, UsedMemory, MeasuredMemory, SavedMemory float64
	// Value is what the saved requests cost; nil if that is not known. It is about Priced.
	Value *float64
	// Priced is for how much of the time prices were known.
	Priced time.Duration
}

// HoursOf returns the hours of savings over time. An amount that is no quantity counts as none.
func HoursOf(of *workloadresizerv1.Savings) (h Hours) {
	hours := of.GetKnownDuration().AsDuration().Hours()
	if hours == 0 {
		return h
	}
	in := func(text string, unit float64) float64 { return print.Number(text, unit) * hours }
	for _, to := range []struct {
		cpu, memory *float64
		from        *workloadresizerv1.ResourceAmounts
	}{
		{&h.AuthoredCPU, &h.AuthoredMemory, of.GetAuthored()}, {&h.RequestedCPU, &h.RequestedMemory, of.GetRequested()}, {&h.UsedCPU, &h.UsedMemory, of.GetUsed()},
		{&h.MeasuredCPU, &h.MeasuredMemory, of.GetMeasured()}, {&h.SavedCPU, &h.SavedMemory, of.GetSaved()},
	} {
		*to.cpu, *to.memory = in(to.from.GetCpu(), 1), in(to.from.GetMemory(), 1<<30)
	}
	if of.AuthoredCost != nil && of.RequestedCost != nil {
		h.Value, h.Priced = new((of.GetAuthoredCost()-of.GetRequestedCost())*hours), of.GetKnownDuration().AsDuration()
		if of.PricedDuration != nil { // Earlier servers do not say it.
			h.Priced = of.PricedDuration.AsDuration()
		}
	}
	return h
}

// Add adds what was saved in another time.
func (h *Hours) Add(o *Hours) {
	switch {
	case h.Value == nil:
		h.Value = o.Value
	case o.Value != nil:
		h.Value = new(*h.Value + *o.Value)
	}
	h.Priced, h.SavedCPU, h.SavedMemory = h.Priced+o.Priced, h.SavedCPU+o.SavedCPU, h.SavedMemory+o.SavedMemory
}

// pastColumns returns the columns of usage savings --since.
func (o *savingsOptions) pastColumns(currency string) []objects.Column[*pastRow] {
	type column = objects.Column[*pastRow]
	var columns []column
	add := func(has bool, more ...column) {
		if has {
			columns = append(columns, more...)
		}
	}
	begin := func(header, layout string) column {
		return objects.Cell(header, func(r *pastRow) any {
			if r.total {
				return every
			}
			return r.GetSinceTime().AsTime().Format(layout)
		})
	}
	// known is a column with something that is not known where nothing was counted.
	known := func(header string, of func(*pastRow) any) column {
		return objects.Cell(header, func(r *pastRow) any {
			if r.counted() == 0 {
				return print.Absent
			}
			return of(r)
		})
	}
	amount := func(header string, of func(*Hours) float64) column {
		return known(header, func(r *pastRow) any { return hoursText(of(&r.hours)) })
	}
	saved := func(header string, of func(*Hours) float64) column {
		return known(header, func(r *pastRow) any {
			return print.Cell{Text: hoursText(of(&r.hours)), Style: savedStyle(cmp.Compare(of(&r.hours), 0))}
		})
	}
	add(o.by == byDay, begin("Day", time.DateOnly))
	add(o.by == byHour, begin("Hour", "2006-01-02T15:04Z"))
	add(o.by == byNamespace || o.by == byWorkload && o.allNamespaces, objects.Cell("Namespace", func(r *pastRow) any { return orEvery(r.GetNamespace()) }))
	add(o.by == byWorkload, objects.Cell("Workload", func(r *pastRow) any {
		if r.GetWorkload() == nil {
			return every
		}
		return print.WorkloadName(r.GetWorkload())
	}))
	add(true,
		known("Pods", func(r *pastRow) any { return r.GetPods() }),
		known("CPU Core Hours", func(r *pastRow) any {
			return hoursText(r.hours.AuthoredCPU) + " → " + hoursText(r.hours.RequestedCPU)
		}),
		amount("CPU Measured", func(h *Hours) float64 { return h.MeasuredCPU }).Wide(),
		amount("CPU Used", func(h *Hours) float64 { return h.UsedCPU }),
		saved("CPU Saved", func(h *Hours) float64 { return h.SavedCPU }),
		known("Memory GiB Hours", func(r *pastRow) any {
			return hoursText(r.hours.AuthoredMemory) + " → " + hoursText(r.hours.RequestedMemory)
		}),
		amount("Memory Measured", func(h *Hours) float64 { return h.MeasuredMemory }).Wide(),
		amount("Memory Used", func(h *Hours) float64 { return h.UsedMemory }),
		saved("Memory Saved", func(h *Hours) float64 { return h.SavedMemory }),
	)
	add(currency != "", objects.Cell("Value "+print.OneLine(currency), func(r *pastRow) any {
		if r.hours.Value == nil {
			return print.Absent
		}
		return print.Cell{Text: fmt.Sprintf("%.2f", *r.hours.Value), Style: savedStyle(cmp.Compare(*r.hours.Value, 0))}
	}))
	add(true, known("Counted", func(r *pastRow) any { return duration.HumanDuration(r.counted()) }))
	add(true,
		objects.Cell("Nodes", func(r *pastRow) any { return ifNodes(r, fmt.Sprintf("%.1f", r.GetNodes())) }).Wide().IfAny(),
		objects.Cell("Allocatable CPU", func(r *pastRow) any { return ifNodes(r, print.CPU.Amount(r.GetAllocatable().GetCpu())) }).Wide().IfAny(),
		objects.Cell("Allocatable Memory", func(r *pastRow) any { return ifNodes(r, print.Memory.Amount(r.GetAllocatable().GetMemory())) }).Wide().IfAny(),
	)
	return columns
}

func ifNodes(r *pastRow, text string) string {
	if r.Nodes == nil {
		return print.Absent
	}
	return text
}

// hoursText returns core-hours or GiB-hours with one digit.
func hoursText(hours float64) string { return fmt.Sprintf("%.1f", hours) }
