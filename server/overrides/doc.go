// Package overrides implements the OverrideService: it reads, changes and rolls back the ratios that
// are set through the API.
//
// It must not know how layers of ratios become a table, nor how overrides are stored.
package overrides
