package usage

import (
	"context"
	"errors"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/paging"
	usagestore "github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trend"
)

// overTime reports whether a request asks for savings over time, or for what is wrong about that.
func overTime(request *workloadresizerv1.ListSavingsRequest) (bool, error) {
	since, until := request.GetSinceTime(), request.GetUntilTime()
	byWorkload := request.GetGroup() == workloadresizerv1.SavingsGroup_SAVINGS_GROUP_WORKLOAD || request.GetGroup() == workloadresizerv1.SavingsGroup_SAVINGS_GROUP_UNSPECIFIED
	for field, at := range map[string]*timestamppb.Timestamp{"since_time": since, "until_time": until} {
		if at != nil && at.CheckValid() != nil {
			return false, rpcerror.BadField(field, "must be a time from the year 1 to the year 9999")
		}
	}
	switch {
	case since == nil && until != nil:
		return false, rpcerror.BadField("until_time", "needs since_time: the time from when on savings are returned")
	case since == nil && request.GetPeriod() != workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_UNSPECIFIED:
		return false, rpcerror.BadField("period", "needs since_time: the time from when on savings are returned")
	case since == nil:
		return false, nil
	case request.GetLabelSelector() != "":
		return false, rpcerror.BadField("label_selector", "must be empty for savings over time, which are not known by label")
	case until != nil && !until.AsTime().After(since.AsTime()):
		return false, rpcerror.BadField("until_time", "must be later than since_time")
	case byWorkload && request.GetPeriod() == workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_HOUR:
		return false, rpcerror.BadField("period", "must not be an hour for workloads, of which days are known; group by namespace instead")
	case request.GetWorkload() != nil && !byWorkload:
		return false, rpcerror.BadField("group", "must be SAVINGS_GROUP_WORKLOAD with a workload")
	}
	return true, nil
}

// timesOf returns the times between which a request asks for savings; nil if nothing of them is kept. They begin and end at whole periods,
// and begin no earlier than what is kept.
func timesOf(request *workloadresizerv1.ListSavingsRequest, now time.Time) (times []time.Time) {
	since, until := request.GetSinceTime().AsTime(), now
	if request.GetUntilTime() != nil && request.GetUntilTime().AsTime().Before(now) {
		until = request.GetUntilTime().AsTime()
	}
	if oldest := now.Add(-trend.Kept); since.Before(oldest) {
		since = oldest
	}
	if !since.Before(until) {
		return nil
	}
	period := map[workloadresizerv1.SavingsPeriod]time.Duration{
		workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_DAY: 24 * time.Hour, workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_HOUR: time.Hour,
	}[request.GetPeriod()]
	if period == 0 {
		return []time.Time{since, until}
	}
	at := since.Truncate(period)
	for ; at.Before(until); at = at.Add(period) {
		times = append(times, at)
	}
	return append(times, at)
}

// listTrends is ListSavings over time.
func (s *Service) listTrends(ctx context.Context, request *workloadresizerv1.ListSavingsRequest, page paging.Page) (*workloadresizerv1.ListSavingsResponse, error) {
	after, err := periodAt(page.After)
	if err != nil {
		return nil, paging.TokenError(err)
	}
	of, table, release, err := s.begin(ctx, request, after.Workload.Namespace)
	if err != nil {
		return nil, err
	}
	defer release()
	now := s.config.Demands.Clock.Now()
	if request.GetSinceTime().AsTime().After(now) {
		return nil, rpcerror.BadField("since_time", "must not be in the future")
	}
	times := timesOf(request, now)
	if len(times) == 0 {
		return &workloadresizerv1.ListSavingsResponse{Currency: currency(table)}, nil
	}
	all, err := s.trends(ctx, of, after.Workload, request.GetGroup(), times)
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.ListSavingsResponse{Currency: currency(table)}
	response.Savings, response.NextPageToken, err = paging.FillFrom(ctx, page, all, func(t *demand.Trend) (string, *workloadresizerv1.Savings) {
		// The beginning of the whole time moves with the present.
		if page.After != "" && t.Workload == after.Workload && (len(times) == 2 || !t.From.After(after.From)) {
			return "", nil
		}
		return periodOf(t), overTimeMessage(t, table.Prices != nil)
	})
	if err != nil {
		return nil, err
	}
	return response, nil
}

// trends returns the trends that a request selects, from a workload or a namespace on.
func (s *Service) trends(ctx context.Context, of demand.Selection, from usagestore.Workload, group workloadresizerv1.SavingsGroup, times []time.Time) (iter.Seq2[*demand.Trend, error], error) {
	d := s.config.Demands
	switch group {
	case workloadresizerv1.SavingsGroup_SAVINGS_GROUP_NAMESPACE:
		return d.Trends(ctx, of, false, from, times), nil
	case workloadresizerv1.SavingsGroup_SAVINGS_GROUP_TOTAL:
	default:
		return d.Trends(ctx, of, true, from, times), nil
	}
	whole := of.Namespace == ""
	if whole {
		var err error
		if whole, err = s.config.Viewer.View(ctx).SeesAll(); err != nil {
			return nil, err
		}
	}
	if whole {
		return each(d.Whole("", times)), nil
	}
	return totals(d.Trends(ctx, of, false, usagestore.Workload{}, times), d.Whole(none, times)), nil
}

// none is the name of no namespace.
const none = "-"

func each(all []*demand.Trend) iter.Seq2[*demand.Trend, error] {
	return func(yield func(*demand.Trend, error) bool) {
		for _, t := range all {
			if !yield(t, nil) {
				return
			}
		}
	}
}

// totals adds up the trends of namespaces, for each of the times, beginning with those of none.
func totals(all iter.Seq2[*demand.Trend, error], none []*demand.Trend) iter.Seq2[*demand.Trend, error] {
	return func(yield func(*demand.Trend, error) bool) {
		of := map[time.Time]*trend.Total{}
		for _, t := range none {
			of[t.From] = &trend.Total{Sum: t.Sum}
		}
		for t, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			of[t.From].Add(&t.Sum)
		}
		for _, t := range none {
			if !yield(&demand.Trend{Sum: of[t.From].End()}, nil) {
				return
			}
		}
	}
}

// overTimeMessage returns a message. priced means that prices are configured. It has costs only if there were prices in its time, too.
func overTimeMessage(of *demand.Trend, priced bool) *workloadresizerv1.Savings {
	whole := func(amount float64) int64 { return int64(math.Round(min(max(amount, -most), most))) }
	as := func(r trend.Resources) *workloadresizerv1.ResourceAmounts {
		return Amounts(recommend.Amounts{CPU: whole(r.CPU), Memory: whole(r.Memory)})
	}
	m := &workloadresizerv1.Savings{
		Namespace: of.Workload.Namespace, Pods: int64(math.Round(of.Pods)),
		Authored: as(of.Authored), Requested: as(of.Requested()), Saved: as(of.Saved), Measured: as(of.Measured()), Used: as(of.Used),
		SinceTime: timestamppb.New(of.From), UntilTime: timestamppb.New(of.Until), KnownDuration: durationpb.New(of.Known.Round(time.Millisecond)),
	}
	if of.Workload.Kind != "" {
		m.Workload = &workloadresizerv1.Workload{Kind: of.Workload.Kind, Name: of.Workload.Name}
	}
	if had := of.HadPrices(); priced {
		m.PricedDuration = durationpb.New(time.Duration(had * float64(of.Known)).Round(time.Millisecond))
		if had > 0 {
			m.AuthoredCost, m.RequestedCost = &of.AuthoredCost, new(of.AuthoredCost-of.SavedCost)
		}
	}
	if of.Nodes > 0 {
		m.Nodes, m.Allocatable = &of.Nodes, as(of.Allocatable)
	}
	return m
}

// most is the largest amount that a message has.
const most = 1 << 62

// periodOf returns what periodAt reads.
func periodOf(t *demand.Trend) string {
	return tokenOf(t.Workload) + separator + strconv.FormatInt(t.From.Unix(), 10)
}

// periodAt reads what periodOf returned; an empty string is before all trends.
func periodAt(text string) (t demand.Trend, err error) {
	if text == "" {
		return t, nil
	}
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return t, errors.New("it is of another list")
	}
	if t.Workload, err = workloadAt(text[:i]); err != nil {
		return t, err
	}
	seconds, err := strconv.ParseInt(text[i+len(separator):], 10, 64)
	if err != nil || t.Workload == (usagestore.Workload{}) && seconds < 0 {
		return t, errors.New("it is of another list")
	}
	t.From = time.Unix(seconds, 0)
	return t, nil
}
