package benchmarks

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func newFeedsCommand(out print.Output, server *connect.Connection) *cobra.Command {
	name := ""
	return objects.List[*workloadresizerv1.Feed, *workloadresizerv1.Feed]{
		Verb: objects.Verb{
			Use:   "feeds [NAME]",
			Short: "Show the feeds that the server reads, and what is wrong with them",
			Long: `Show the feeds that the server reads, and what is wrong with them.

ROWS, SAMPLES, SKIPPED and BAD describe the copy that was READ last. If a feed
cannot be read, that copy stays in use, and a warning appears on standard error.
SAMPLES counts the rows that are used, even if several tests of a suite are one
sample. SKIPPED rows are valid, but do not measure a node's speed. The documents
(-o json) count skipped and bad rows by reason. If you name a feed, or with
-o wide, the faults of its rows follow, as FEED:LINE: FIELD: what is wrong.

Every replica of the server reads the feeds by itself. The output comes from the
replica that answers.`,
			Example: `  # Show the state of all feeds
  resizectl benchmark feeds

  # Show what is wrong with one feed
  resizectl benchmark feeds coremark-table`,
			Args:     command.Args(cobra.MaximumNArgs(1)),
			Complete: completeFeeds(server),
			Steps:    []command.Step{command.Name(&name, "the name of the feed is empty; omit it for all of them")},
		},
		Kind: FeedKind,
		Fetch: func(ctx context.Context, c *client.Client, _ *print.Output) (*objects.Answer[*workloadresizerv1.Feed], error) {
			resp, err := feedsOf(ctx, c, name)
			if err != nil {
				return nil, err
			}
			return &objects.Answer[*workloadresizerv1.Feed]{
				Objects: resp.GetFeeds(), Document: []proto.Message{resp}, Empty: "the server reads no feeds: its benchmark settings name none",
				Below: func(o *print.Output) error {
					if !o.Wide() && name == "" {
						return nil
					}
					return print.Texts(o.Out, feedFaults(resp.GetFeeds())...)
				},
				Remarks: append(FeedWarnings(resp.GetFeeds()), settingsWarnings(ctx, c)...),
			}, nil
		},
	}.Command(out, server)
}

// feedsOf returns the feeds, or only the one with a name.
func feedsOf(ctx context.Context, c *client.Client, name string) (*workloadresizerv1.ListFeedsResponse, error) {
	resp := &workloadresizerv1.ListFeedsResponse{}
	for feed, err := range c.ListFeeds(ctx) {
		if err != nil {
			return nil, err
		}
		if name == "" || feed.GetName() == name {
			resp.Feeds = append(resp.Feeds, feed)
		}
	}
	if name != "" && len(resp.GetFeeds()) == 0 {
		return nil, fmt.Errorf("the server reads no feed %q; \"resizectl benchmark feeds\" lists the feeds that it reads", name)
	}
	return resp, nil
}

// settingsWarnings warn that the feeds may not be the configured ones: if settings are rejected, the last good
// settings stay in effect, or none. Callers without that right, or too early, get the feeds without warnings.
func settingsWarnings(ctx context.Context, c *client.Client) []string {
	resp, err := c.ListRatios(ctx)
	if err != nil {
		return nil
	}
	return ratios.SourceWarnings(slices.DeleteFunc(resp.GetSources(), func(s *workloadresizerv1.RatioSource) bool { return s.GetName() != benchmarkSource }))
}

// FeedWarnings warn of feeds that cannot be read, and say what is used instead.
func FeedWarnings(feeds []*workloadresizerv1.Feed) (texts []string) {
	for _, feed := range feeds {
		if feed.GetMessage() == "" {
			continue
		}
		kept := "no good copy yet"
		if feed.GetLastSuccessTime() != nil {
			kept = "its copy of " + print.Timestamp(feed.GetLastSuccessTime()) + " stays in use"
		}
		texts = append(texts, fmt.Sprintf("warning: feed %s: %s (%s)", print.OneLine(feed.GetName()), print.OneLine(feed.GetMessage()), kept))
	}
	return texts
}

// FeedKind describes feeds.
func FeedKind(o *print.Output) objects.Kind[*workloadresizerv1.Feed, *workloadresizerv1.Feed] {
	type feed = *workloadresizerv1.Feed
	return objects.Kind[feed, feed]{
		Name: func(f feed) string { return "feed/" + f.GetName() },
		Rows: objects.Itself[feed],
		Columns: []objects.Column[feed]{
			objects.Text("Name", feed.GetName),
			objects.Text("Format", feed.GetFormat),
			objects.Cell("State", func(f feed) any { return feedState(f) }),
			objects.Count("Rows", feed.GetRows),
			objects.Count("Samples", feed.GetSamples),
			objects.Count("Skipped", feed.GetSkipped),
			objects.Count("Bad", feed.GetBad),
			objects.Cell("Read", func(f feed) any { return o.Age(f.GetLastSuccessTime()) }),
			objects.Cell("Tried", func(f feed) any { return o.Age(f.GetLastTryTime()) }).Wide(),
			objects.Text("Location", feed.GetLocation).Wide(),
		},
	}
}

// feedState returns, as a word, whether a feed needs attention.
func feedState(feed *workloadresizerv1.Feed) print.Cell {
	switch {
	case feed.GetLastTryTime() == nil:
		return print.Cell{Text: "waiting", Style: print.Dim}
	case feed.GetMessage() != "":
		return print.Cell{Text: "failing", Style: print.Red}
	case feed.GetBad() > 0:
		return print.Cell{Text: "bad-rows", Style: print.Notable}
	}
	return print.Cell{Text: "good"}
}

// feedFaults says what is wrong with the rows, one line each.
func feedFaults(feeds []*workloadresizerv1.Feed) (lines []string) {
	for _, feed := range feeds {
		for _, fault := range feed.GetFaults() {
			lines = append(lines, faultLine(feed.GetName(), int(fault.GetLine()), fault.GetField(), fault.GetMessage()))
		}
		lines = append(lines, moreFaults(feed.GetName(), feed.GetBad()-int64(len(feed.GetFaults())), "bad"))
	}
	return lines
}
