// The vendor's Java client of the v2 line, unmodified.
// Run by v2-native-clients.long.test.ts as: java -cp LIBRARIES BucketClients.java URL TOKEN ORG. Prints one JSON object of findings.
import com.google.gson.GsonBuilder;
import com.influxdb.client.InfluxDBClient;
import com.influxdb.client.InfluxDBClientFactory;
import com.influxdb.client.InfluxDBClientOptions;
import com.influxdb.client.WriteApi;
import com.influxdb.client.domain.BucketRetentionRules;
import com.influxdb.client.domain.Permission;
import com.influxdb.client.domain.PermissionResource;
import com.influxdb.client.domain.WritePrecision;
import com.influxdb.client.write.Point;
import com.influxdb.client.write.events.WriteErrorEvent;
import com.influxdb.exceptions.InfluxException;
import com.influxdb.query.FluxRecord;
import com.influxdb.query.FluxTable;
import java.math.BigInteger;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

public class BucketClients {
  static final String RANGE = "range(start: 2023-11-14T00:00:00Z, stop: 2023-11-15T00:00:00Z)";

  interface Call {
    void run() throws Exception;
  }

  /** Status and code. */
  static Object errorOf(Call call) throws Exception {
    try {
      call.run();
      return null;
    } catch (InfluxException error) {
      return Arrays.asList(error.status(), error.errorBody().get("code"));
    }
  }

  static List<List<Object>> cells(InfluxDBClient client, String script, String... columns) {
    List<List<Object>> found = new ArrayList<>();
    for (FluxTable table : client.getQueryApi().query(script)) {
      for (FluxRecord record : table.getRecords()) {
        List<Object> row = new ArrayList<>();
        for (String column : columns) {
          Object value = record.getValueByKey(column);
          row.add(value == null ? null : value.toString());
        }
        found.add(row);
      }
    }
    return found;
  }

  static InfluxDBClient connect(String url, String token, String org) {
    return InfluxDBClientFactory.create(InfluxDBClientOptions.builder().url(url).authenticateToken(token.toCharArray()).org(org).build());
  }

  public static void main(String[] arguments) throws Exception {
    String url = arguments[0], orgName = arguments[2];
    Map<String, Object> found = new LinkedHashMap<>();
    try (InfluxDBClient client = connect(url, arguments[1], orgName)) {
      var org = client.getOrganizationsApi().findOrganizations().stream().filter(each -> each.getName().equals(orgName)).findFirst().get();
      var buckets = client.getBucketsApi();
      var bucket = buckets.createBucket("java", new BucketRetentionRules().everySeconds(0), org);
      var writes = client.getWriteApiBlocking();
      Point point = Point.measurement("weather").addTag("city", "Zürich, CH").addField("temp", -3.25).addField("humidity", 81);
      point.addField("station", new BigInteger("9007199254740993")).addField("rain", true).addField("note", "a \"quoted\" note");
      writes.writePoint("java", orgName, point.time(1_700_000_000_123_456_789L, WritePrecision.NS));
      writes.writeRecord("java", orgName, WritePrecision.S, "weather,city=Oslo temp=1 1700000001");
      List<String> failures = new ArrayList<>();
      try (WriteApi batching = client.makeWriteApi()) {
        batching.listenEvents(WriteErrorEvent.class, event -> failures.add(event.getThrowable().getMessage()));
        for (int i = 0; i < 10_000; i++) {
          batching.writeRecord("java", orgName, WritePrecision.MS, "many,n=" + i % 7 + " i=" + i + "i " + (1_700_000_000_000L + i));
        }
      }
      found.put("batch", failures);
      found.put("ping", client.ping());
      found.put("ready", client.ready().getStatus().toString());
      found.put("version", client.version());
      String pivot = "from(bucket: \"java\") |> " + RANGE + " |> filter(fn: (r) => r._measurement == \"weather\")"
          + " |> pivot(rowKey: [\"_time\"], columnKey: [\"_field\"], valueColumn: \"_value\") |> group() |> sort(columns: [\"_time\"])";
      found.put("rows", cells(client, pivot, "city", "temp", "humidity", "station", "rain", "note", "_time"));
      String sums = "from(bucket: \"java\") |> " + RANGE + " |> filter(fn: (r) => r._measurement == \"many\") |> sum()";
      found.put("sums", cells(client, sums, "n", "_value"));
      found.put("raw", client.getQueryApi().queryRaw("import \"array\" array.from(rows: [{a: 1, b: \"é\"}])").contains("1,é"));
      OffsetDateTime start = OffsetDateTime.parse("2023-11-14T00:00:00Z"), stop = OffsetDateTime.parse("2023-11-15T00:00:00Z");
      client.getDeleteApi().delete(start, stop, "city=\"Oslo\"", "java", orgName);
      found.put("deleted", cells(client, pivot, "city", "temp"));
      var resource = new PermissionResource().type(PermissionResource.TYPE_BUCKETS).id(bucket.getId()).orgID(org.getId());
      var reader = new Permission().action(Permission.ActionEnum.READ).resource(resource);
      var authorization = client.getAuthorizationsApi().createAuthorization(org, List.of(reader));
      var label = client.getLabelsApi().createLabel("java label", Map.of("color", "ffb3b3"), org.getId());
      var user = client.getUsersApi().createUser("java user");
      client.getUsersApi().updateUserPassword(user.getId(), "", "password34");
      InfluxDBClient limited = connect(url, authorization.getToken(), orgName);
      InfluxDBClient stranger = connect(url, "nobody", orgName);
      found.put("resources", List.of(
          List.of(bucket.getRetentionRules().get(0).getEverySeconds(), buckets.findBucketByName("java").getId().equals(bucket.getId())),
          List.of(authorization.getStatus().toString(), limited.getQueryApi().query(pivot).size()),
          List.of(label.getName(), user.getName(), client.getUsersApi().me().getName())));
      found.put("errors", Arrays.asList(
          errorOf(() -> limited.getWriteApiBlocking().writeRecord("java", orgName, WritePrecision.NS, "m v=1")),
          errorOf(() -> stranger.getWriteApiBlocking().writeRecord("java", orgName, WritePrecision.NS, "m v=1")),
          errorOf(() -> stranger.getBucketsApi().findBuckets()),
          errorOf(() -> writes.writeRecord("nowhere", orgName, WritePrecision.NS, "m v=1")),
          errorOf(() -> writes.writeRecord("java", orgName, WritePrecision.NS, "m v=1i2")),
          errorOf(() -> client.getQueryApi().query("from("))));
      limited.close();
      stranger.close();
      client.getUsersApi().deleteUser(user);
      client.getLabelsApi().deleteLabel(label);
      client.getAuthorizationsApi().deleteAuthorization(authorization);
      buckets.deleteBucket(bucket);
      found.put("gone", errorOf(() -> buckets.findBucketByID(bucket.getId())));
    }
    System.out.println(new GsonBuilder().serializeNulls().create().toJson(Map.of("influxdb-client-java", found)));
  }
}
