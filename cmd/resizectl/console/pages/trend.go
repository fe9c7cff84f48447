package pages

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/usage"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// trendSpans are the numbers of days that charts can show, and trendDays is how many they show unless somebody chooses another.
var trendSpans = []string{"7", "30", "90"}

const trendDays = "30"

// trendOptions are what charts show.
type trendOptions struct {
	// Namespace is empty for the whole cluster.
	Namespace, Days string
}

// trendOptionsOf returns those of an address.
func trendOptionsOf(values url.Values) trendOptions {
	o := trendOptions{Namespace: values.Get("namespace"), Days: values.Get("days")}
	if !slices.Contains(trendSpans, o.Days) {
		o.Days = trendDays
	}
	return o
}

// Choices are the numbers of days to choose from.
func (o trendOptions) Choices() (all []choice) {
	for _, days := range trendSpans {
		all = append(all, choice{Name: days, Value: days, Chosen: days == o.Days})
	}
	return all
}

// listTrend lists what was requested and used on the last days.
func listTrend(ctx context.Context, c *client.Client, of *workloadresizerv1.ListSavingsRequest, days string) (*workloadresizerv1.ListSavingsResponse, error) {
	n, err := strconv.Atoi(days)
	if err != nil {
		return nil, err
	}
	of.SinceTime, of.Period = timestamppb.New(time.Now().AddDate(0, 0, -n)), workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_DAY
	return c.ListSavings(ctx, of)
}

// trendView is what was requested and used over time.
type trendView struct {
	Problem string
	Charts  []chart
	// Saved says how much was saved in all.
	Saved string
}

// trendOf returns the charts of both resources.
func trendOf(read part[*workloadresizerv1.ListSavingsResponse]) trendView {
	v := trendView{Problem: read.Problem}
	days := read.Value.GetSavings()
	var known time.Duration
	for _, day := range days {
		known += day.GetKnownDuration().AsDuration()
	}
	if known == 0 {
		return v
	}
	for _, r := range []struct {
		title, unit string
		in          float64
		of          func(*workloadresizerv1.ResourceAmounts) string
	}{{"CPU", "cores", 1, (*workloadresizerv1.ResourceAmounts).GetCpu}, {"Memory", "GiB", 1 << 30, (*workloadresizerv1.ResourceAmounts).GetMemory}} {
		data := &chartData{Unit: r.unit, Lines: []chartLine{{Name: "Authored", Dashed: true}, {Name: "Applied"}, {Name: "Used"}}}
		var last [3]float64
		var counted time.Time
		for _, day := range days {
			data.At = append(data.At, float64(day.GetSinceTime().GetSeconds()))
			is := day.GetKnownDuration().AsDuration() > 0
			for i, of := range []*workloadresizerv1.ResourceAmounts{day.GetAuthored(), day.GetRequested(), day.GetUsed()} {
				var amount *float64
				if is {
					counted, last[i] = day.GetSinceTime().AsTime(), amountIn(r.of(of), r.in)
					amount = new(last[i])
				}
				data.Lines[i].Amounts = append(data.Lines[i].Amounts, amount)
			}
		}
		says := fmt.Sprintf("on %s, authored %.3g, applied %.3g, used %.3g %s", counted.Format(time.DateOnly), last[0], last[1], last[2], r.unit)
		v.Charts = append(v.Charts, chartOf(r.title+" ("+r.unit+", mean of each day)", says, data)...)
	}
	v.Saved = savedText(days, known, print.OneLine(read.Value.GetCurrency()))
	return v
}

// savedText says what was saved on the days, of which so much is known.
func savedText(days []*workloadresizerv1.Savings, known time.Duration, currency string) string {
	var sum usage.Hours
	for _, day := range days {
		of := usage.HoursOf(day)
		sum.Add(&of)
	}
	text := fmt.Sprintf("Saved: %.1f core-hours and %.1f GiB-hours of requests", sum.SavedCPU, sum.SavedMemory)
	if sum.Value != nil {
		text += fmt.Sprintf(", worth %.2f %s at the prices of the nodes", *sum.Value, currency)
	}
	return text + ", counted for " + duration.HumanDuration(known) + ". Used is only of pods whose usage is known. Days are in UTC."
}

// amountIn returns an amount of the API in a unit; 0 if it is none.
func amountIn(text string, unit float64) float64 {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0
	}
	return q.AsApproximateFloat64() / unit
}
