package deliver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/agent/usage"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// reply is the server's response to one call.
type reply struct {
	err error
	// rejected are the indexes of usages, and code why they are rejected.
	rejected []int64
	code     workloadresizerv1.UsageErrorCode
	// more is how many more are rejected without being listed.
	more int64
}

// collector is a server that gives its replies in order, and then repeats the last one.
type collector struct {
	mu      sync.Mutex
	replies []reply
	// got are the containers of each call, and dialed is how many connections there were.
	got     [][]string
	dialed  int
	dialErr error
	closed  int
	// load is the load of the node, and loads are the loads that were sent.
	load  float64
	loads []float64
}

func (c *collector) dial() (UsageClient, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dialErr != nil {
		return nil, c.dialErr
	}
	c.dialed++
	return fakeConnection{c}, nil
}

// measure measures the node, whose load grows.
func (c *collector) measure() usage.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load++
	return usage.Node{Load: new(c.load)}
}

// fakeConnection is one connection to the collector.
type fakeConnection struct{ *collector }

func (c fakeConnection) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed++
	return nil
}

func (c fakeConnection) Report(_ context.Context, usages []*workloadresizerv1.ContainerUsage, node *workloadresizerv1.NodeUsage) (*workloadresizerv1.ReportUsageResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loads = append(c.loads, node.GetVcpuLoad())
	var ids []string
	for _, u := range usages {
		ids = append(ids, u.GetContainerId())
	}
	c.got = append(c.got, ids)
	r := c.replies[0]
	if len(c.replies) > 1 {
		c.replies = c.replies[1:]
	}
	if r.err != nil {
		return nil, r.err
	}
	response := &workloadresizerv1.ReportUsageResponse{Rejected: int64(len(r.rejected)) + r.more}
	for _, i := range r.rejected {
		response.Errors = append(response.Errors, &workloadresizerv1.UsageError{Index: i, Code: r.code, Message: "cannot count"})
	}
	return response, nil
}

// used returns the usages of a minute that ends now.
func used(ids ...string) (all []usage.Usage) {
	for _, id := range ids {
		all = append(all, usage.Usage{PodUID: "pod", ContainerID: id, End: time.Now(), Duration: time.Minute})
	}
	return all
}

// sending runs a sender, and returns what it logs.
func sending(t *testing.T, c *collector) (*UsageSender, *strings.Builder) {
	t.Helper()
	log := &strings.Builder{}
	s := NewUsageSender(c.dial, c.measure, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { s.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return s, log
}

const (
	unknownContainer = workloadresizerv1.UsageErrorCode_USAGE_ERROR_CODE_CONTAINER_UNKNOWN
	notYours         = workloadresizerv1.UsageErrorCode_USAGE_ERROR_CODE_NODE_NOT_YOURS
)

var (
	unavailable = reply{err: status.Error(codes.Unavailable, "NOT_COLLECTING")}
	denied      = reply{err: status.Error(codes.PermissionDenied, "you may not")}
)

func TestUsageSender(t *testing.T) {
	for _, tc := range []struct {
		name    string
		replies []reply
		// got are the calls after minutes of reports, of the containers a, b and c.
		minutes     int
		got         []string
		connections int
		logs        []string
	}{
		{"sends usages in one call", []reply{{}}, 1, []string{"abc"}, 1, nil},
		{"keeps the connection that works", []reply{{}}, 3, []string{"abc", "abc", "abc"}, 1, nil},
		{"connects again until a replica collects", []reply{unavailable, unavailable, {}}, 2, []string{"abc", "abc", "abc", "abc"}, 3, nil},
		{"connects again after no answer", []reply{{err: status.Error(codes.DeadlineExceeded, "late")}, {}}, 1, []string{"abc", "abc"}, 2, nil},
		{"tries again on the same connection if too much has arrived", []reply{{err: status.Error(codes.ResourceExhausted, "TOO_MUCH_USAGE")}, {}}, 1, []string{"abc", "abc"}, 1, nil},
		{
			"tries again a minute later after another error", []reply{denied, {}}, 2, []string{"abc", "abcabc"}, 1,
			[]string{`level=WARN msg="Usages could not be sent; trying again" err="rpc error: code = PermissionDenied desc = you may not"`, `level=INFO msg="Usages are sent again" after=1m0s`},
		},
		{"sends usages of unknown containers again with the next ones", []reply{{rejected: []int64{1}, code: unknownContainer}, {}}, 2, []string{"abc", "babc"}, 1, nil},
		{
			"does not send rejected usages again", []reply{{rejected: []int64{0, 2}, code: notYours}, {}}, 2, []string{"abc", "abc"}, 1,
			[]string{`level=WARN msg="Usages were dropped because the server rejected them" count=2 first="cannot count"`},
		},
		{"sends usages again that may be rejected without being listed", []reply{{rejected: []int64{0}, code: unknownContainer, more: 1}, {}}, 2, []string{"abc", "abcabc"}, 1, nil},
		{"sends usages again after listed ones that are rejected for good", []reply{{rejected: []int64{1}, code: notYours, more: 1}, {}}, 2, []string{"abc", "cabc"}, 1,
			[]string{`level=WARN msg="Usages were dropped because the server rejected them" count=1 first="cannot count"`}},
		{
			"drops usages that no server accepts", []reply{{err: status.Error(codes.InvalidArgument, "too long")}, {}}, 2, []string{"abc", "abc"}, 1,
			[]string{`level=WARN msg="Usages were dropped because the server rejected them" count=3 first="rpc error: code = InvalidArgument desc = too long"`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &collector{replies: tc.replies}
				s, log := sending(t, c)
				for range tc.minutes {
					s.Add(used("a", "b", "c"))
					time.Sleep(time.Minute)
				}
				synctest.Wait()
				var got []string
				for _, ids := range c.got {
					got = append(got, strings.Join(ids, ""))
				}
				if !slices.Equal(got, tc.got) || c.dialed != tc.connections {
					t.Errorf("got calls %q on %d connections, want %q on %d", got, c.dialed, tc.got, tc.connections)
				}
				// Each call has the load of its time, never that of an earlier one.
				if c.load != float64(len(c.loads)) || !slices.IsSorted(c.loads) || c.loads[0] != 1 || c.loads[len(c.loads)-1] != c.load {
					t.Errorf("the node had the loads %v, and %v last", c.loads, c.load)
				}
				checkLog(t, log, tc.logs)
			})
		})
	}
	for name, test := range map[string]func(*testing.T){
		"drops usages that are too old":                                   dropsUsagesThatAreTooOld,
		"drops the oldest of too many usages":                             dropsTheOldestOfTooManyUsages,
		"drops usages whose containers stay unknown":                      dropsUsagesWhoseContainersStayUnknown,
		"logs calmly while the server does not answer":                    logsCalmly,
		"tries less and less often, and includes what was added":          triesLessOften,
		"tries again a minute later if it cannot connect":                 triesAgainIfItCannotConnect,
		"ends even while the server is away, and then sends what is left": endsWhileTheServerIsAway,
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
	}
}

func checkLog(t *testing.T, log *strings.Builder, want []string) {
	t.Helper()
	var got []string
	for line := range strings.Lines(log.String()) {
		got = append(got, strings.TrimSpace(line))
	}
	if !slices.Equal(got, want) {
		t.Errorf("logged %q, want %q", got, want)
	}
}

func dropsUsagesThatAreTooOld(t *testing.T) {
	c := &collector{replies: []reply{denied}}
	s, log := sending(t, c)
	for i := range 13 {
		s.Add(used(fmt.Sprint(i)))
		time.Sleep(time.Minute)
	}
	synctest.Wait()
	if last := c.got[len(c.got)-1]; last[0] != "2" || last[len(last)-1] != "12" {
		t.Errorf("the last call has %q", last)
	}
	if !strings.Contains(log.String(), `level=WARN msg="Usages were dropped because they could not be sent in time" count=1`) {
		t.Errorf("logged %q", log)
	}
}

func dropsTheOldestOfTooManyUsages(t *testing.T) {
	c := &collector{replies: []reply{denied}}
	s, _ := sending(t, c)
	for range 3 {
		s.Add(used(slices.Repeat([]string{"a"}, mostUsages/2)...))
		time.Sleep(time.Minute)
	}
	synctest.Wait()
	if last := c.got[len(c.got)-1]; len(last) != mostUsages {
		t.Errorf("%d usages are sent", len(last))
	}
}

func dropsUsagesWhoseContainersStayUnknown(t *testing.T) {
	c := &collector{replies: []reply{{rejected: []int64{0, 1, 2, 3, 4, 5, 6, 7, 8}, code: unknownContainer}}}
	s, log := sending(t, c)
	for range 20 {
		s.Add(used("a"))
		time.Sleep(time.Minute)
	}
	synctest.Wait()
	for i, ids := range c.got {
		if len(ids) != min(i+1, 6) {
			t.Errorf("call %d has %d usages", i, len(ids))
		}
	}
	checkLog(t, log, []string{
		`level=INFO msg="Usages were dropped because the server does not know their containers" count=1`,
		`level=INFO msg="Usages were dropped because the server does not know their containers" count=10`,
	})
}

func logsCalmly(t *testing.T) {
	c := &collector{replies: []reply{unavailable}}
	s, log := sending(t, c)
	for i := range 30 {
		s.Add(used("a"))
		time.Sleep(time.Minute)
		if i == 28 {
			c.mu.Lock()
			c.replies = []reply{{}}
			c.mu.Unlock()
		}
	}
	synctest.Wait()
	lines := strings.Count(log.String(), "\n")
	if failed := strings.Count(log.String(), "could not be sent; trying again"); failed < 2 || failed > 3 || lines > 6 {
		t.Errorf("logged %s", log)
	}
	if !strings.Contains(log.String(), `msg="Usages are sent again" after=29m`) {
		t.Errorf("logged %s", log)
	}
}

func triesLessOften(t *testing.T) {
	c := &collector{replies: []reply{unavailable}}
	s, _ := sending(t, c)
	s.Add(used("a"))
	time.Sleep(time.Minute)
	s.Add(used("b"))
	time.Sleep(time.Minute)
	synctest.Wait()
	if n := len(c.got); n < 6 || n > 12 {
		t.Errorf("%d calls in two minutes", n)
	}
	if last := c.got[len(c.got)-1]; !slices.Equal(last, []string{"a", "b"}) {
		t.Errorf("the last call has %q", last)
	}
	if c.dialed != len(c.got) || c.closed != c.dialed {
		t.Errorf("%d calls, %d connections, of which %d were closed", len(c.got), c.dialed, c.closed)
	}
}

func triesAgainIfItCannotConnect(t *testing.T) {
	c := &collector{replies: []reply{{}}, dialErr: errors.New("no certificate")}
	s, log := sending(t, c)
	s.Add(used("a"))
	time.Sleep(time.Minute)
	c.mu.Lock()
	c.dialErr = nil
	c.mu.Unlock()
	s.Add(used("b"))
	synctest.Wait()
	if len(c.got) != 1 || !slices.Equal(c.got[0], []string{"a", "b"}) {
		t.Errorf("got %q", c.got)
	}
	checkLog(t, log, []string{`level=WARN msg="Usages could not be sent; trying again" err="no certificate"`, `level=INFO msg="Usages are sent again" after=1m0s`})
}

func endsWhileTheServerIsAway(t *testing.T) {
	c := &collector{replies: []reply{{}, unavailable}}
	ctx, cancel := context.WithCancel(t.Context())
	s := NewUsageSender(c.dial, c.measure, slog.New(slog.DiscardHandler))
	ended := make(chan struct{})
	go func() {
		s.Run(ctx)
		close(ended)
	}()
	for range 2 {
		s.Add(used("a"))
		time.Sleep(time.Minute)
	}
	cancel()
	<-ended
	c.replies = []reply{{}}
	s.Add(used("b"))
	s.Flush(t.Context())
	if last := c.got[len(c.got)-1]; !slices.Equal(last, []string{"a", "b"}) {
		t.Errorf("the last call has %q", last)
	}
	if c.closed != c.dialed {
		t.Errorf("%d of %d connections were closed", c.closed, c.dialed)
	}
}

func TestUsageMessages(t *testing.T) {
	end := time.Date(2026, 11, 24, 1, 2, 3, 0, time.UTC)
	known := usageMessages([]usage.Usage{{
		PodUID: "u", ContainerID: "i", End: end, Duration: time.Minute, CPU: new(0.5), Memory: new(int64(7)), Charged: new(int64(9)),
		Throttled: new(0.1), CPUPressure: new(0.2), MemoryPressure: new(0.3), LimitEvents: new(int64(4)),
	}})[0]
	if known.GetPodUid() != "u" || known.GetContainerId() != "i" || known.GetContainer() != "" || !known.GetEndTime().AsTime().Equal(end) || known.GetMeasureDuration().AsDuration() != time.Minute ||
		known.GetCpuCores() != 0.5 || known.GetMemoryPeakBytes() != 7 || known.GetMemoryChargedBytes() != 9 || known.GetThrottled() != 0.1 || known.GetCpuPressure() != 0.2 || known.GetMemoryPressure() != 0.3 || known.GetMemoryLimitEvents() != 4 {
		t.Errorf("got %v", known)
	}
	if unknown := usageMessages([]usage.Usage{{}})[0]; unknown.CpuCores != nil || unknown.MemoryPeakBytes != nil || unknown.MemoryChargedBytes != nil ||
		unknown.Throttled != nil || unknown.CpuPressure != nil || unknown.MemoryPressure != nil || unknown.MemoryLimitEvents != nil {
		t.Errorf("unknown values are known: %v", unknown)
	}
}
