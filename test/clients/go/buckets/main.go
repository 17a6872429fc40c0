// The vendor's Go client of the v2 line, unmodified.
// Run by v2-native-clients.long.test.ts as: buckets URL TOKEN ORG. Prints one JSON object of findings.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	influxdb2 "github.com/influxdata/influxdb-client-go/v2"
	"github.com/influxdata/influxdb-client-go/v2/api/http"
	"github.com/influxdata/influxdb-client-go/v2/domain"
)

const timeRange = "range(start: 2023-11-14T00:00:00Z, stop: 2023-11-15T00:00:00Z)"

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func textOf(value any) any {
	switch v := value.(type) {
	case nil:
		return nil
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(value)
}

// Status and code; what the client says, if it hides them.
func errorOf(err error) any {
	var failure *http.Error
	if errors.As(err, &failure) {
		return []any{failure.StatusCode, failure.Code}
	}
	if err == nil {
		return nil
	}
	return err.Error()
}

func main() {
	url, token, orgName := os.Args[1], os.Args[2], os.Args[3]
	ctx := context.Background()
	client := influxdb2.NewClientWithOptions(url, token, influxdb2.DefaultOptions().SetMaxRetries(0))
	org := must(client.OrganizationsAPI().FindOrganizationByName(ctx, orgName))
	buckets := client.BucketsAPI()
	forEver := domain.RetentionRule{EverySeconds: 0}
	bucket := must(buckets.CreateBucketWithName(ctx, org, "go", forEver))
	writes := client.WriteAPIBlocking(orgName, "go")
	point := influxdb2.NewPointWithMeasurement("weather").AddTag("city", "Zürich, CH").AddField("temp", -3.25).AddField("humidity", 81)
	point.AddField("station", uint64(18446744073709551615)).AddField("rain", true).AddField("note", "a \"quoted\"\nnote")
	check(writes.WritePoint(ctx, point.SetTime(time.Unix(0, 1_700_000_000_123_456_789))))
	check(writes.WriteRecord(ctx, "weather,city=Oslo temp=1 1700000001000000000"))
	failures := []any{}
	batching := client.WriteAPI(orgName, "go")
	go func() {
		for err := range batching.Errors() {
			failures = append(failures, errorOf(err))
		}
	}()
	for i := range 10_000 {
		batching.WriteRecord(fmt.Sprintf("many,n=%d i=%di %d", i%7, i, 1_700_000_000_000_000_000+i))
	}
	batching.Flush()
	queries := client.QueryAPI(orgName)
	cells := func(script string, columns ...string) [][]any {
		found := [][]any{}
		result := must(queries.Query(ctx, script))
		for result.Next() {
			row := []any{}
			for _, column := range columns {
				row = append(row, textOf(result.Record().ValueByKey(column)))
			}
			found = append(found, row)
		}
		check(result.Err())
		return found
	}
	pivot := `from(bucket: "go") |> ` + timeRange + ` |> filter(fn: (r) => r._measurement == "weather")
		|> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value") |> group() |> sort(columns: ["_time"])`
	sums := `from(bucket: "go") |> ` + timeRange + ` |> filter(fn: (r) => r._measurement == "many") |> sum()`
	dialect := influxdb2.DefaultDialect()
	raw := must(queries.QueryRaw(ctx, `import "array" array.from(rows: [{a: 1, b: "é"}])`, dialect))
	found := map[string]any{
		"health": must(client.Health(ctx)).Status,
		"ready":  *must(client.Ready(ctx)).Status,
		"ping":   must(client.Ping(ctx)),
		"rows":   cells(pivot, "city", "temp", "humidity", "station", "rain", "note", "_time"),
		"sums":   cells(sums, "n", "_value"),
		"raw":    strings.Contains(raw, "1,é"),
		"batch":  failures,
	}
	start, stop := time.Unix(1_699_920_000, 0), time.Unix(1_700_006_400, 0)
	check(client.DeleteAPI().DeleteWithName(ctx, orgName, "go", start, stop, `city="Oslo"`))
	found["deleted"] = cells(pivot, "city", "temp")
	reader := domain.Permission{
		Action:   domain.PermissionActionRead,
		Resource: domain.Resource{Type: domain.ResourceTypeBuckets, Id: bucket.Id, OrgID: org.Id},
	}
	authorization := must(client.AuthorizationsAPI().CreateAuthorizationWithOrgID(ctx, *org.Id, []domain.Permission{reader}))
	label := must(client.LabelsAPI().CreateLabelWithName(ctx, org, "go label", map[string]string{"color": "ffb3b3"}))
	user := must(client.UsersAPI().CreateUserWithName(ctx, "go user"))
	check(client.UsersAPI().UpdateUserPassword(ctx, user, "password34"))
	limited := influxdb2.NewClient(url, *authorization.Token)
	stranger := influxdb2.NewClient(url, "nobody")
	signedIn := influxdb2.NewClient(url, "")
	check(signedIn.UsersAPI().SignIn(ctx, "go user", "password34"))
	found["resources"] = []any{
		[]any{(*bucket).RetentionRules[0].EverySeconds, *must(buckets.FindBucketByName(ctx, "go")).Id == *bucket.Id},
		[]any{*authorization.Status, must(limited.QueryAPI(orgName).Query(ctx, pivot)).Next()},
		[]any{*label.Name, *user.Status, must(client.UsersAPI().Me(ctx)).Name, must(signedIn.UsersAPI().Me(ctx)).Name},
	}
	check(signedIn.UsersAPI().SignOut(ctx))
	_, unsigned := signedIn.UsersAPI().Me(ctx)
	_, unknown := stranger.BucketsAPI().GetBuckets(ctx)
	_, broken := queries.Query(ctx, "from(")
	found["errors"] = []any{
		errorOf(limited.WriteAPIBlocking(orgName, "go").WriteRecord(ctx, "m v=1")),
		errorOf(stranger.WriteAPIBlocking(orgName, "go").WriteRecord(ctx, "m v=1")),
		errorOf(unknown), errorOf(unsigned),
		errorOf(client.WriteAPIBlocking(orgName, "nowhere").WriteRecord(ctx, "m v=1")),
		errorOf(writes.WriteRecord(ctx, "m v=1i2")),
		errorOf(broken),
	}
	check(client.UsersAPI().DeleteUser(ctx, user))
	check(client.LabelsAPI().DeleteLabel(ctx, label))
	check(client.AuthorizationsAPI().DeleteAuthorization(ctx, authorization))
	check(buckets.DeleteBucket(ctx, bucket))
	_, gone := buckets.FindBucketByID(ctx, *bucket.Id)
	found["gone"] = errorOf(gone)
	client.Close()
	fmt.Println(string(must(json.Marshal(map[string]any{"influxdb-client-go": found}))))
}
