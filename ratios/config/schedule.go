package config

import (
	"time"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy/schedule"
)

// mostWindows is the maximum number of windows: all of them are looked at for each pod.
const mostWindows = 20

// readSchedule reads the windows in which resizes happen. An empty list is set, too.
func readSchedule(into *schedule.Schedule) func(reader.Value) {
	return func(v reader.Value) {
		if v.IsNull() {
			return
		}
		all := schedule.Schedule{}
		v.Items(func(v reader.Value) { all = append(all, readWindow(v)) })
		if len(all) > mostWindows {
			v.Fault("has %d windows, but must have at most %d", len(all), mostWindows)
		}
		*into = all
	}
}

// readWindow reads a window. Without an end, it extends to the beginning or the end of the day.
func readWindow(v reader.Value) (w schedule.Window) {
	var days schedule.Days
	var zone *time.Location
	from, to, bounded := schedule.Clock(0), schedule.Midnight, false
	fine := v.Fields(reader.Known{
		"days": readDays(&days),
		"from": parsed(&from, &bounded, schedule.ParseClock),
		"to":   parsed(&to, &bounded, schedule.ParseClock),
		"zone": parsed(&zone, new(bool), schedule.ParseZone),
	})
	if !fine {
		return w
	}
	if days == 0 && !bounded {
		v.Fault("sets no time: add days, from or to; a schedule without windows is always open")
		return w
	}
	w, err := schedule.New(days, from, to, zone)
	if err != nil {
		v.Fault("%v", err)
	}
	return w
}

// readDays reads a list of days and ranges of days.
func readDays(into *schedule.Days) func(reader.Value) {
	return func(v reader.Value) {
		if v.Items(func(v reader.Value) {
			var days schedule.Days
			parsed(&days, new(bool), schedule.ParseDays)(v)
			*into |= days
		}) && *into == 0 {
			v.Fault("must have a day; omit it for all days")
		}
	}
}

// parsed reads text that parse understands, and whether there is any.
func parsed[T any](into *T, isSet *bool, parse func(string) (T, error)) func(reader.Value) {
	return func(v reader.Value) {
		text, _ := v.Text()
		value, err := parse(text)
		if err != nil {
			v.Fault("%v, not %s", err, v)
			return
		}
		*into, *isSet = value, true
	}
}
