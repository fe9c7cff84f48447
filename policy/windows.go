package policy

import (
	"time"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/policy/schedule"
)

// mostWindows is the maximum number of windows: all of them are looked at for each pod.
const mostWindows = 20

// windows are the windows in which resizes happen.
var windows = keys.List("up to 20 windows", mostWindows, "windows", func(v reader.Value, _ schedule.Schedule) schedule.Window { return readWindow(v) })

// window is a window as it is written. Without an end, it extends to the beginning or the end of the day.
type window struct {
	Days     schedule.Days
	From, To schedule.Clock
	Zone     *time.Location
}

// Keys implements keys.Section.
func (w *window) Keys() []keys.Key {
	clock := keys.Parsed("00:00 to 24:00", nil, schedule.ParseClock)
	return []keys.Key{
		keys.Of("days", &w.Days, days, 0, "list of the days on which the window starts. A window that ends on the next day belongs to this day").Or("all"),
		keys.Of("from", &w.From, clock, 0, "time of day at which it starts").Or("00:00"),
		keys.Of("to", &w.To, clock, schedule.Midnight, "time of day at which it ends; it must differ from `from`. If it is earlier, the window ends on the next day").Or("24:00"),
		keys.Of("zone", &w.Zone, keys.Parsed("a name of the IANA database", nil, schedule.ParseZone), time.UTC, "time zone. An hour that its clock skips is in no window, and one that it repeats is in a window both times").Or("UTC"),
	}
}

func readWindow(v reader.Value) (w schedule.Window) {
	var read keys.Partial[window]
	if !read.Read(v) {
		return w
	}
	if !read.Sets("days", "from", "to") {
		v.Fault("sets no time: add days, from or to; a schedule without windows is always open")
		return w
	}
	all := read.Complete()
	w, err := schedule.New(all.Days, all.From, all.To, all.Zone)
	if err != nil {
		v.Fault("%v", err)
	}
	return w
}

// days is a list of days and ranges of days.
var days = keys.Kind[schedule.Days]{
	Values: "`Mon`, `Monday`, or ranges such as `Mon-Fri` and `Sat-Mon`",
	Read: func(v reader.Value) (all schedule.Days, ok bool) {
		day := keys.Parsed("", nil, schedule.ParseDays)
		if v.Items(func(v reader.Value) {
			days, _ := day.Read(v)
			all |= days
		}) && all == 0 {
			v.Fault("must have a day; omit it for all days")
		}
		return all, all != 0
	},
}
