package pages

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/usage"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// trendSpans are the numbers of days that charts can show, and trendDays is how many they show unless somebody chooses another.
var trendSpans = []string{"1", "7", "30", "90"}

const trendDays = "30"

// lastWeek is the choice of the last whole week, from Monday to Sunday in the time zone of this machine.
const lastWeek = "last-week"

// trendOptions are what charts show.
type trendOptions struct {
	// Namespace is empty for the whole cluster.
	Namespace, Days string
}

// trendOptionsOf returns those of an address.
func trendOptionsOf(values url.Values) trendOptions {
	o := trendOptions{Namespace: values.Get("namespace"), Days: values.Get("days")}
	if o.Days != lastWeek && !slices.Contains(trendSpans, o.Days) {
		o.Days = trendDays
	}
	return o
}

// Choices are the times to choose from.
func (o trendOptions) Choices() (all []choice) {
	for _, days := range append(slices.Clone(trendSpans), lastWeek) {
		name := (trendOptions{Days: days}).words()
		if days == lastWeek {
			name += ", Monday to Sunday"
		}
		all = append(all, choice{Name: name, Value: days, Chosen: days == o.Days})
	}
	return all
}

// words names the time.
func (o trendOptions) words() string {
	switch o.Days {
	case lastWeek:
		return "last week"
	case "1":
		return "last day"
	}
	return "last " + o.Days + " days"
}

// in says which time it is, as the end of a sentence. Read is what was read of it: which week is the last one changes with time.
func (o trendOptions) in(read *trend) string {
	if o.Days != lastWeek {
		return "the " + o.words()
	}
	monday := read.monday
	if monday.IsZero() {
		monday, _ = weekBefore(time.Now())
	}
	return fmt.Sprintf("the week from %s to %s", monday.Format(time.DateOnly), monday.AddDate(0, 0, 6).Format(time.DateOnly))
}

// weekBefore returns when the week before this one began and ended, on Mondays.
func weekBefore(now time.Time) (begin, end time.Time) {
	sinceMonday := (int(now.Weekday()) + 6) % 7
	day := func(before int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()-before, 0, 0, 0, 0, now.Location())
	}
	return day(sinceMonday + 7), day(sinceMonday)
}

// hourlyDays is of how many days charts show each hour; of more, each day. Of workloads, hours are not kept.
const hourlyDays = 7

// trend is what was requested and used, by hour or by day.
type trend struct {
	*workloadresizerv1.ListSavingsResponse
	// hourly reports whether it is by hour.
	hourly bool
	// monday is when the week began, in the time zone of this machine; zero if it is not a week.
	monday time.Time
}

// listWeek lists what was requested and used in each hour of the last week. The server counts whole hours in UTC.
func listWeek(ctx context.Context, c *client.Client, of *workloadresizerv1.ListSavingsRequest) (trend, error) {
	begin, end := weekBefore(time.Now())
	of.Period = workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_HOUR
	of.SinceTime, of.UntilTime = timestamppb.New(begin.Truncate(time.Hour)), timestamppb.New(end.Truncate(time.Hour))
	resp, err := c.ListSavings(ctx, of)
	return trend{resp, true, begin}, err
}

// listTrend lists what was requested and used on the last days.
func listTrend(ctx context.Context, c *client.Client, of *workloadresizerv1.ListSavingsRequest, days string) (trend, error) {
	if days == lastWeek {
		return listWeek(ctx, c, of)
	}
	n, err := strconv.Atoi(days)
	if err != nil {
		return trend{}, err
	}
	const day = 24 * time.Hour
	hourly, period := n <= hourlyDays && of.GetWorkload() == nil, day
	of.Period = workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_DAY
	if hourly {
		period, of.Period = time.Hour, workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_HOUR
	}
	// Savings begin at whole periods. One that had begun before would make the time longer than the page says.
	of.SinceTime = timestamppb.New(time.Now().Add(period - 1 - time.Duration(n)*day).Truncate(period))
	resp, err := c.ListSavings(ctx, of)
	return trend{resp, hourly, time.Time{}}, err
}

// trendView is what was requested and used over time.
type trendView struct {
	Problem string
	Charts  []chart
	// Saved says how much was saved in all, and Notes what one must know of the charts.
	Saved, Notes string
}

// curve is a line of a chart: the amount of a time, and whether there is one.
type curve struct {
	name   string
	dashed bool
	of     func(*workloadresizerv1.Savings) (amount float64, known bool)
}

// trendOf returns the charts of what was read.
func trendOf(read part[trend]) trendView {
	v := trendView{Problem: read.Problem}
	times := read.Value.GetSavings()
	var known time.Duration
	for _, at := range times {
		known += at.GetKnownDuration().AsDuration()
	}
	if known == 0 {
		return v
	}
	currency := print.OneLine(read.Value.GetCurrency())
	resources := func(of func(*workloadresizerv1.ResourceAmounts) string, in float64) []curve {
		return []curve{
			{"Authored", true, func(s *workloadresizerv1.Savings) (float64, bool) { return print.Number(of(s.GetAuthored()), in), true }},
			{"Applied", false, func(s *workloadresizerv1.Savings) (float64, bool) {
				return print.Number(of(s.GetRequested()), in), true
			}},
			{"Used", false, func(s *workloadresizerv1.Savings) (float64, bool) {
				return print.Number(of(s.GetUsed()), in), print.Number(of(s.GetMeasured()), in) > 0
			}},
			{"Allocatable", true, func(s *workloadresizerv1.Savings) (float64, bool) {
				return print.Number(of(s.GetAllocatable()), in), s.GetAllocatable() != nil
			}},
		}
	}
	v.Charts = slices.Concat(
		curves(&read.Value, "CPU", "cores", resources((*workloadresizerv1.ResourceAmounts).GetCpu, 1)...),
		curves(&read.Value, "Memory", "GiB", resources((*workloadresizerv1.ResourceAmounts).GetMemory, 1<<30)...),
		curves(&read.Value, "Cost at the prices of the nodes", currency+" per hour",
			curve{"Authored", true, func(s *workloadresizerv1.Savings) (float64, bool) { return s.GetAuthoredCost(), s.AuthoredCost != nil }},
			curve{"Applied", false, func(s *workloadresizerv1.Savings) (float64, bool) {
				return s.GetRequestedCost(), s.RequestedCost != nil
			}},
		),
		curves(&read.Value, "Nodes", "", curve{"Nodes", false, func(s *workloadresizerv1.Savings) (float64, bool) { return s.GetNodes(), s.Nodes != nil }}),
	)
	v.Saved = savedText(times, known, currency)
	v.Notes = "Used leaves out pods if " + unmeasured + ". Days and hours are in UTC."
	if !read.Value.monday.IsZero() {
		v.Notes += " The week is in the time zone of this machine, in whole hours of UTC."
	}
	return v
}

// curves returns a chart of those curves that have an amount; none without.
func curves(read *trend, title, unit string, all ...curve) []chart {
	data := &chartData{Hours: read.hourly, Unit: unit}
	for _, at := range read.GetSavings() {
		data.At = append(data.At, float64(at.GetSinceTime().GetSeconds()))
	}
	each, on := "mean of each day", "on "+time.DateOnly
	if read.hourly {
		each, on = "mean of each hour", "at 2006-01-02 15:04 UTC"
	}
	var says []string
	for _, c := range all {
		line, last := chartLine{Name: c.name, Dashed: c.dashed}, ""
		for _, at := range read.GetSavings() {
			var drawn *float64
			if amount, known := c.of(at); known && at.GetKnownDuration().AsDuration() > 0 {
				drawn, last = &amount, fmt.Sprintf("%s %s %s", strings.ToLower(c.name), short(amount), at.GetSinceTime().AsTime().Format(on))
			}
			line.Amounts = append(line.Amounts, drawn)
		}
		if last != "" {
			data.Lines, says = append(data.Lines, line), append(says, last)
		}
	}
	if len(says) == 0 {
		return nil
	}
	if unit != "" {
		each = unit + ", " + each
	}
	return chartOf(title+" ("+each+")", strings.Join(says, ", "), data)
}

// savedText says what was saved on the days, of which so much is known.
func savedText(days []*workloadresizerv1.Savings, known time.Duration, currency string) string {
	var sum usage.Hours
	for _, day := range days {
		of := usage.HoursOf(day)
		sum.Add(&of)
	}
	text := fmt.Sprintf("Saved: %s core-hours and %s GiB-hours of requests (authored minus applied)", short(sum.SavedCPU), short(sum.SavedMemory))
	switch {
	case sum.Value == nil:
	case *sum.Value != 0 && math.Abs(*sum.Value) < 0.005:
		text += ", worth less than 0.01 " + currency
	default:
		text += fmt.Sprintf(", worth %.2f %s at the prices of the nodes", *sum.Value, currency)
	}
	text += ". Counted for " + print.Duration(known) + "."
	if sum.Value != nil && sum.Priced < known {
		text += " Prices were known for only " + print.Duration(sum.Priced) + " of that, and the amount of money is for these."
	}
	return text
}

// unmeasured says why the usage of pods is not known.
const unmeasured = "nothing was measured of them, or their node type has no ratio"
